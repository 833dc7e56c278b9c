import type { JSX } from 'preact'
import { goTo, hrefOf, useHash, useRoute } from '../route.ts'
import { useFormats, useWords } from '../words/words.ts'

/** The place in a paged list, from the address. */
export interface Paging {
  readonly cursor: string | null
  /** The page's number; `undefined` if its address was opened directly. */
  readonly number: number | undefined
  next(cursor: string): void
  previous(): void
  first(): void
}

/** For each page's address, the addresses of the pages before it. */
const trails = new Map<string, readonly string[]>()
/** The most pages to remember. Beyond that, all are forgotten. */
const MAX_TRAILS = 2_000

/** @param name the query parameter that holds the cursor */
export function usePaging(name: string): Paging {
  const hash = useHash()
  const { name: page, part, query } = useRoute()
  const cursor = query[name] ?? null
  const trail = cursor === null ? [] : trails.get(hash)
  const addressOf = (next: string): string => hrefOf(page, part, { ...query, [name]: next })
  return {
    cursor,
    number: trail === undefined ? undefined : trail.length + 1,
    next(wanted) {
      const href = addressOf(wanted)
      if (trails.size >= MAX_TRAILS) trails.clear()
      trails.set(href, [...(trail ?? []), hash])
      goTo(href)
    },
    previous: () => goTo(trail?.at(-1) ?? addressOf('')),
    first: () => goTo(addressOf('')),
  }
}

export function Pager({ paging, nextCursor }: { paging: Paging; nextCursor: string | null }): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const { number } = paging
  return (
    <nav class="pager" aria-label={words.pages}>
      {number === undefined ? (
        <button type="button" onClick={paging.first}>
          {words.firstPage}
        </button>
      ) : (
        <button type="button" disabled={number === 1} onClick={paging.previous}>
          {words.previous}
        </button>
      )}
      {number !== undefined && <span aria-live="polite">{words.page(formats.number(number))}</span>}
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
