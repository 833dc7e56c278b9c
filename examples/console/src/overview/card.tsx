import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import { useWords } from '../words/words.ts'

interface CardProps {
  readonly title: string
  /** Whose figures they are. */
  readonly of: 'process' | 'all'
  readonly children: ComponentChildren
}

/** A part of the overview, and whose figures it has. */
export function Card({ title, of, children }: CardProps): JSX.Element {
  const words = useWords()
  const id = useId()
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p class="quiet small">{of === 'all' ? words.overview.ofAll : words.overview.ofProcess}</p>
      {children}
    </section>
  )
}
