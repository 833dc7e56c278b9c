import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useFormats, useWords } from '../words/words.ts'

/** Where in a list that is read page by page somebody is: the cursors of the pages up to this one. */
export interface Paging {
  readonly cursor: string | null
  readonly number: number
  next(cursor: string): void
  previous(): void
  first(): void
}

export function usePaging(): Paging {
  const [cursors, setCursors] = useState<readonly (string | null)[]>([null])
  return {
    cursor: cursors.at(-1) ?? null,
    number: cursors.length,
    next: (cursor) => setCursors((before) => [...before, cursor]),
    previous: () => setCursors((before) => (before.length > 1 ? before.slice(0, -1) : before)),
    first: () => setCursors([null]),
  }
}

export function Pager({ paging, nextCursor }: { paging: Paging; nextCursor: string | null }): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  return (
    <nav class="pager" aria-label={words.pages}>
      <button type="button" disabled={paging.number === 1} onClick={paging.previous}>
        {words.previous}
      </button>
      <span aria-live="polite">{words.page(formats.number(paging.number))}</span>
      <button
        type="button"
        disabled={nextCursor === null}
        onClick={() => {
          if (nextCursor !== null) paging.next(nextCursor)
        }}
      >
        {words.next}
      </button>
    </nav>
  )
}
