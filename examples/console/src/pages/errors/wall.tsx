import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Adaptive, Move } from '../../api/api.ts'
import { useApi } from '../../session.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Done } from '../../ui/notice.tsx'
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
  const [isAsking, setAsking] = useState(false)
  const [done, setDone] = useState('')
  const levels = wall === null ? '' : words.levels(formats.factor(wall.low), formats.factor(wall.high))
  return (
    <>
      {wall !== null && (
        <section aria-labelledby="wall">
          <h2 id="wall">{words.wallTitle}</h2>
          <p>{words.wall(levels, formats.dateTime(wall.retryAt))}</p>
          <p class="quiet small">{words.wallAbout}</p>
          <p class="buttons">
            <button type="button" onClick={() => setAsking(true)}>
              {words.forget}
            </button>
          </p>
        </section>
      )}
      {/* It stays when the wall has gone, or it would not be read out. */}
      <Done>{done}</Done>
      {isAsking && (
        <Confirm
          title={words.forgetTitle}
          about={words.forgetAbout(levels)}
          yes={words.forget}
          act={async () => {
            setDone('')
            onForgotten(await api.forgetLearned())
            setDone(words.forgotten)
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}
