import type { ComponentChildren, JSX } from 'preact'
import { useWords } from '../words/words.ts'
import { ErrorNotice } from './notice.tsx'
import type { Resource } from './use-resource.ts'

interface LoadedProps<T> {
  readonly resource: Resource<T>
  /** Lines kept free meanwhile, so that nothing moves. */
  readonly lines?: number
  readonly children: (data: T) => ComponentChildren
}

/** Shows a loaded value, a placeholder while it loads, or the error. */
export function Loaded<T>({ resource, lines = 4, children }: LoadedProps<T>): JSX.Element {
  const { data, error, isLoading, reload } = resource
  return (
    <div aria-busy={isLoading} class={isLoading ? 'loaded busy' : 'loaded'}>
      <ErrorNotice error={error} retry={reload} />
      {data === undefined && error === undefined && <Skeleton lines={lines} />}
      {data !== undefined && children(data)}
    </div>
  )
}

export function Skeleton({ lines }: { lines: number }): JSX.Element {
  const words = useWords()
  return (
    <div class="skeleton">
      <span class="hidden">{words.loading}</span>
      {Array.from({ length: lines }, (_line, index) => (
        // Empty lines have no other identity than their position.
        <span key={index} class="line" aria-hidden="true" />
      ))}
    </div>
  )
}
