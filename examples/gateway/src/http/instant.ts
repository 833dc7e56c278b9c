import * as z from 'zod'

/** An instant as every answer tells it: ISO 8601, UTC, with milliseconds. */
export const isoInstant: z.ZodISODateTime = z.iso.datetime({ precision: 3 })

/** The last instant with a year of four digits, epoch milliseconds. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** @param at epoch milliseconds; later ones than four digits of a year can tell are told as the last of those */
export function instantText(at: number): string {
  return new Date(Math.min(at, LAST)).toISOString()
}

/** Epoch milliseconds of ISO 8601 text. */
export function instantOf(text: string): number {
  return Date.parse(text)
}
