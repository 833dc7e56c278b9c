import * as z from 'zod'

/** A whole number in a query: digits and nothing else; in the document it is a number. */
export function queryNumber(least: number, most: number, fallback: number): z.ZodType<number> {
  const error = `expected a whole number from ${least} to ${most}`
  return z
    .preprocess(
      (text) => (typeof text === 'string' && /^(?:0|[1-9]\d{0,8})$/.test(text) ? Number(text) : undefined),
      z.int(error).min(least, error).max(most, error),
    )
    .default(fallback)
}
