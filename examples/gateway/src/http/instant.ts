import * as z from 'zod'

/** An instant as every answer tells it: ISO 8601, UTC, with milliseconds. */
export const isoInstant: z.ZodISODateTime = z.iso.datetime({ precision: 3 })
