import { BODY_LIMITS, type BodyLimits } from '../http/body/limits.ts'

/**
 * Of a request of score sync: ten thousand records with long titles, their letters escaped, and twice as many members as a
 * record has at Diving-Fish.
 */
export const SYNC_BODY_LIMITS: BodyLimits = {
  ...BODY_LIMITS,
  list: { name: 'records', bytes: 8 * 1_048_576, elements: 280_000, entryBytes: 65_536, entryElements: 500 },
  gzip: true,
}

/** Bytes of all requests in flight, and of one bot's: eight pushes of ten thousand records each. */
export const SYNC_BODY_BUDGET = [128 * 1_048_576, 64 * 1_048_576] as const
