import type { JSX } from 'preact'
import type { Adaptive, Bucket, Failures } from '../../api/api.ts'
import { useFormats, useWords } from '../../words/words.ts'

/** The factor from this time on, in seconds since the epoch. */
export interface FactorStep {
  readonly at: number
  readonly factor: number
}

/** The factor over time, from the stored moves. Before the oldest move, it's the factor that this move changed. */
export function factorSteps({ history, factor }: Pick<Adaptive, 'history' | 'factor'>, since: number): FactorStep[] {
  const oldest = history.at(-1)
  const moves = history.map(({ at, to }) => ({ at: Date.parse(at) / 1_000, factor: to })).reverse()
  return [{ at: since, factor: oldest?.from ?? factor }, ...moves].map((step) => ({
    ...step,
    at: Math.max(step.at, since),
  }))
}

export function factorAt(steps: readonly FactorStep[], at: number): number | undefined {
  return steps.findLast((step) => step.at <= at)?.factor
}

export function Legend(): JSX.Element {
  const { failures: words } = useWords()
  return (
    <ul class="legend" aria-hidden="true">
      <li class="ending codeZero">{words.codeZero}</li>
      <li class="ending serverError">{words.otherServer}</li>
      <li class="ending clientError">{words.business}</li>
      <li class="ending factor">{words.factor}</li>
    </ul>
  )
}

interface ReadoutProps {
  readonly failures: Failures
  readonly steps: readonly FactorStep[]
  readonly index: number
}

export function Readout({ failures, steps, index }: ReadoutProps): JSX.Element | null {
  const { failures: words } = useWords()
  const formats = useFormats()
  const bucket = failures.series[index]
  if (bucket === undefined) return null
  const end = endOf(bucket, failures.bucketMinutes)
  return (
    <>
      <strong>{words.step(formats.dateTime(bucket.ts), formats.time(end * 1_000))}</strong>
      <Numbers counts={bucket} factor={factorAt(steps, end)} />
    </>
  )
}

interface TotalsProps {
  readonly failures: Failures
  readonly steps: readonly FactorStep[]
  readonly title: string
}

export function Totals({ failures: { summary }, steps, title }: TotalsProps): JSX.Element {
  return (
    <figcaption class="totals">
      <strong>{title}</strong>
      <Numbers counts={summary} factor={factorAt(steps, Number.POSITIVE_INFINITY)} />
    </figcaption>
  )
}

interface NumbersProps {
  readonly counts: Failures['summary']
  readonly factor: number | undefined
}

function Numbers({ counts, factor }: NumbersProps): JSX.Element {
  const { failures: words } = useWords()
  const formats = useFormats()
  const share = (count: number): string =>
    words.share(formats.number(count), formats.percent(counts.calls === 0 ? 0 : count / counts.calls))
  return (
    <dl>
      <Item name={words.calls} value={formats.number(counts.calls)} />
      <Item name={words.rate} value={formats.percent(counts.failureRate)} />
      <Item name={words.codeZero} value={share(counts.codeZero)} />
      <Item name={words.otherServer} value={share(counts.serverError - counts.codeZero)} />
      <Item name={words.business} value={share(counts.businessFail)} />
      <Item name={words.factor} value={factor === undefined ? '–' : `×${formats.factor(factor)}`} />
    </dl>
  )
}

function Item({ name, value }: { name: string; value: string }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

/** Seconds since the epoch. */
function endOf({ bucketUnix }: Bucket, minutes: number): number {
  return bucketUnix + minutes * 60
}
