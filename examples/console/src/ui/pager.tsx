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

export function usePaging(): Paging {
  const hash = useHash()
  const { name: page, part, query } = useRoute()
  const cursor = query.cursor ?? null
  const trail = cursor === null ? [] : trails.get(hash)
  const addressOf = (next: string): string => hrefOf(page, part, { ...query, cursor: next })
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

interface PagerProps {
  readonly paging: Paging
  readonly nextCursor: string | null
  /** How many entries the list has, with its filters. */
  readonly total: string
}

/** Moves through a list. Nothing for a list of one page. */
export function Pager({ paging, nextCursor, total }: PagerProps): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const { number } = paging
  if (nextCursor === null && paging.cursor === null) return <p class="quiet small">{total}</p>
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
      <span class="quiet small">{total}</span>
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
