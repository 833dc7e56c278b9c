/** The `Retry-After` of an answer, in seconds, if the source names none; and the largest one. */
const DEFAULT_SECONDS = 60
const MOST_SECONDS = 3_600

/** The seconds of a `Retry-After` field, which may be a number or a date (RFC 9110, 10.2.3): 1 to 3600. */
export function retryAfterSeconds(field: string | null, now: number): number {
  const seconds = /^\d+$/.test(field ?? '') ? Number(field) : (Date.parse(field ?? '') - now) / 1_000
  return Number.isNaN(seconds) ? DEFAULT_SECONDS : Math.min(Math.max(Math.ceil(seconds), 1), MOST_SECONDS)
}
