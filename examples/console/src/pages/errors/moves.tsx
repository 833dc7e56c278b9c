import type { JSX } from 'preact'
import type { Adaptive, Move } from '../../api/api.ts'
import { Scroll } from '../../ui/table.tsx'
import type { Words } from '../../words/en.ts'
import type { Formats } from '../../words/formats.ts'
import { useFormats, useWords } from '../../words/words.ts'

export function FactorNow({ adaptive }: { adaptive: Adaptive }): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const { factor, isActive, mode, lastTick, preview } = adaptive
  return (
    <section aria-labelledby="now">
      <h2 id="now">{words.failures.now}</h2>
      <p class="large">×{formats.factor(factor)}</p>
      <p>{isActive ? words.failures.active : words.failures.inactive(words.modes[mode])}</p>
      {preview.failed !== null && <p>{failedText(preview.failed, words, formats)}</p>}
      <dl class="reasons">
        {lastTick !== null && (
          <>
            <dt>
              {words.failures.lastTick}, {formats.dateTime(lastTick.at)}
            </dt>
            <dd>{reasonText({ ...lastTick, failed: null }, words, formats)}</dd>
          </>
        )}
        <dt>{words.failures.wouldDo}</dt>
        <dd>{reasonText({ ...preview, failed: null }, words, formats, words.wouldVerdicts)}</dd>
      </dl>
    </section>
  )
}

export function Moves({ moves }: { moves: readonly Move[] }): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  return (
    <section aria-labelledby="moves">
      <h2 id="moves">{words.failures.moves}</h2>
      {moves.length === 0 ? (
        <p class="empty">{words.failures.noMoves}</p>
      ) : (
        <>
          <p class="quiet small">{words.failures.movesAbout}</p>
          <Scroll label={words.failures.moves} size="tall">
            <ul class="entries moves">
              {moves.map((move) => (
                <li key={move.at}>
                  <p class="entry-title">
                    {formats.factor(move.from)} → {formats.factor(move.to)}
                    <span class="quiet small">{formats.dateTime(move.at)}</span>
                  </p>
                  <p>{reasonText(move, words, formats)}</p>
                </li>
              ))}
            </ul>
          </Scroll>
        </>
      )}
    </section>
  )
}

/**
 * A review in words.
 *
 * @param verdicts other texts, for a preview
 */
function reasonText(
  { code, from, to, counts, bounds, failed }: Move,
  words: Words,
  formats: Formats,
  verdicts = words.verdicts,
): string {
  const { number, percent, factor } = formats
  const because = words.reasons[code]
  const moved = to < from ? verdicts.lowered : verdicts.raised
  const verdict = from === to ? verdicts.stays(factor(to), because) : moved(factor(from), factor(to), because)
  const reason = words.reasonCounts(
    number(counts.errors),
    number(counts.calls),
    percent(bounds.low),
    percent(bounds.high),
    number(counts.recentErrors),
    number(counts.recentCalls),
  )
  if (failed === null) return words.sentences(verdict, reason)
  return words.sentences(verdict, failedText(failed, words, formats), reason)
}

/** The level that adaptive mode stays below, because errors began there. */
function failedText(
  { level, retryAt }: NonNullable<Move['failed']>,
  words: Words,
  { factor, dateTime }: Formats,
): string {
  return words.failures.failed(factor(level), dateTime(retryAt))
}
