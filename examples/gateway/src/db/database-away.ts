/** The database cannot be reached, or does not answer in time. What was asked of it may have happened or not. */
export class DatabaseAwayError extends Error {
  override readonly name = 'DatabaseAwayError'
}

/** What PostgreSQL and the embedded database say when a lock was not free in time. */
const LOCKED = /^(?:55P03$|SQLITE_BUSY)/

/** Whether the same may succeed a little later: the database is away, or others hold what it was to lock. */
export function isDatabaseAway(error: unknown): error is Error {
  if (error instanceof DatabaseAwayError) return true
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && LOCKED.test(error.code)
}
