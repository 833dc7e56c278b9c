import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Adaptive, Move } from '../../api/api.ts'
import { useApi } from '../../session.ts'
import { Done } from '../../ui/notice.tsx'
import { Question } from '../../ui/question.tsx'
import { useAction } from '../../ui/use-action.ts'
import { useFormats, useWords } from '../../words/words.ts'

interface WallProps {
  readonly wall: Move['wall']
  onForgotten(adaptive: Adaptive): void
}

/** The levels at which errors began, when they are tested again, and a button that forgets them. */
export function WallNow({ wall, onForgotten }: WallProps): JSX.Element {
  const { failures: words } = useWords()
  const formats = useFormats()
  const api = useApi()
  const { isBusy, error, run, clear } = useAction()
  const [isAsking, setAsking] = useState(false)
  const [done, setDone] = useState('')
  const levels = wall === null ? '' : words.levels(formats.factor(wall.low), formats.factor(wall.high))
  const ask = (): void => {
    clear()
    setDone('')
    setAsking(true)
  }
  const forget = async (): Promise<void> => {
    const isDone = await run(async () => onForgotten(await api.forgetLearned()))
    if (!isDone) return
    setAsking(false)
    setDone(words.forgotten)
  }
  return (
    <>
      {wall !== null && (
        <section aria-labelledby="wall">
          <h2 id="wall">{words.wallTitle}</h2>
          <p>{words.wall(levels, formats.dateTime(wall.retryAt))}</p>
          <p class="quiet small">{words.wallAbout}</p>
          <p class="buttons">
            <button type="button" onClick={ask}>
              {words.forget}
            </button>
          </p>
        </section>
      )}
      {/* It stays when the wall has gone, or it would not be read out. */}
      <Done>{done}</Done>
      {isAsking && (
        <Question
          title={words.forgetTitle}
          about={words.forgetAbout(levels)}
          yes={words.forget}
          isDangerous
          isBusy={isBusy}
          error={error}
          onYes={forget}
          onNo={() => setAsking(false)}
        />
      )}
    </>
  )
}
