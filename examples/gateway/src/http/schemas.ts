import * as z from 'zod'

/** An instant in a response: ISO 8601, UTC, with milliseconds. */
export const isoInstant: z.ZodISODateTime = z.iso.datetime({ precision: 3 })

/** The last instant with a four-digit year, epoch milliseconds. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** @param at epoch milliseconds; instants beyond the year 9999 become the last of that year */
export function instantText(at: number): string {
  return new Date(Math.min(at, LAST)).toISOString()
}

/** A whole number in a query: digits only. In the OpenAPI document it is a number. */
export function queryNumber(least: number, most: number, fallback: number): z.ZodType<number> {
  const error = `expected a whole number from ${least} to ${most}`
  return z
    .preprocess(
      (text) => (typeof text === 'string' && /^(?:0|[1-9]\d{0,8})$/.test(text) ? Number(text) : undefined),
      z.int(error).min(least, error).max(most, error),
    )
    .default(fallback)
}

/** How many entries a page may have. */
export const pageLimit: z.ZodType<number> = queryNumber(1, 100, 50)

export const CURSOR_ERROR = 'expected the nextCursor of another page'

/** A page of a list. */
export function pageOf<T extends z.ZodType>(
  item: T,
): z.ZodObject<{ items: z.ZodArray<T>; nextCursor: z.ZodNullable<z.ZodString> }> {
  return z.object({ items: z.array(item), nextCursor: z.nullable(z.string()) })
}

/** Makes a page of its rows and, if there is one, the row after them. */
export function toPage<T>(
  rows: readonly T[],
  limit: number,
  cursorOf: (row: T) => string,
): { readonly items: readonly T[]; readonly nextCursor: string | null } {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: last === undefined || rows.length <= limit ? null : cursorOf(last) }
}
