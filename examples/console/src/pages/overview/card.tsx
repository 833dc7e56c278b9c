import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import { useOverviewWords } from './words.ts'

interface CardProps {
  readonly title: string
  /** Whether the figures cover this process or all. */
  readonly of: 'process' | 'all'
  readonly children: ComponentChildren
}

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

/** Marks figures of the responding process. All others cover all processes. */
export function ProcessMark(): JSX.Element {
  const overview = useOverviewWords()
  return (
    <span class="process-mark" role="img" aria-label={overview.ofProcess} title={overview.ofProcess}>
      ◐
    </span>
  )
}
