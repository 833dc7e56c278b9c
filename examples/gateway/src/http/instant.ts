import * as z from 'zod'

/** An instant in a response: ISO 8601, UTC, with milliseconds. */
export const isoInstant: z.ZodISODateTime = z.iso.datetime({ precision: 3 })

/** The last instant with a four-digit year, epoch milliseconds. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** @param at epoch milliseconds; instants beyond the year 9999 become the last of that year */
export function instantText(at: number): string {
  return new Date(Math.min(at, LAST)).toISOString()
}
