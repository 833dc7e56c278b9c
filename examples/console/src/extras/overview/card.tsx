import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import { useOverviewWords } from './words.ts'

interface CardProps {
  readonly title: string
  /** Whose figures they are. */
  readonly of: 'process' | 'all'
  readonly children: ComponentChildren
}

/** A part of the overview; one of this process has a mark. */
export function Card({ title, of, children }: CardProps): JSX.Element {
  const id = useId()
  return (
    <section aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        {of === 'process' && <ProcessMark />}
      </div>
      {children}
    </section>
  )
}

/** Says that a figure is of the process that answers; the others are of all. */
export function ProcessMark(): JSX.Element {
  const overview = useOverviewWords()
  return (
    <span class="process-mark" role="img" aria-label={overview.ofProcess} title={overview.ofProcess}>
      ◐
    </span>
  )
}
