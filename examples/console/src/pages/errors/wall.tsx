import type { JSX } from 'preact'
import type { Adaptive, Move } from '../../api/api.ts'
import { useExtras } from '../../session.ts'
import { useFormats, useWords } from '../../words/words.ts'

interface WallProps {
  readonly wall: Move['wall']
  onForgotten(adaptive: Adaptive): void
}

export function WallNow({ wall, onForgotten }: WallProps): JSX.Element {
  const { failures: words } = useWords()
  const formats = useFormats()
  const extras = useExtras()
  const levels = wall === null ? '' : words.levels(formats.factor(wall.low), formats.factor(wall.high))
  return (
    <>
      {wall !== null && (
        <section aria-labelledby="wall">
          <h2 id="wall">{words.wallTitle}</h2>
          <p>{words.wall(levels, formats.dateTime(wall.retryAt))}</p>
          <p class="quiet small">{words.wallAbout}</p>
        </section>
      )}
      {extras.map(({ name, Wall }) => Wall && <Wall key={name} levels={levels} onForgotten={onForgotten} />)}
    </>
  )
}
