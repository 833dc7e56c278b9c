import type { JSX } from 'preact'
import type { Move } from '../../api/api.ts'
import { useFormats, useWords } from '../../words/words.ts'

export function WallNow({ wall }: { wall: Move['wall'] }): JSX.Element | null {
  const { failures: words } = useWords()
  const formats = useFormats()
  if (wall === null) return null
  const levels = words.levels(formats.factor(wall.low), formats.factor(wall.high))
  return (
    <section aria-labelledby="wall">
      <h2 id="wall">{words.wallTitle}</h2>
      <p>{words.wall(levels, formats.dateTime(wall.retryAt))}</p>
      <p class="quiet small">{words.wallAbout}</p>
    </section>
  )
}
