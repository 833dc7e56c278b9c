/** The database cannot be reached, or does not answer in time. The statement may have been carried out or not. */
export class DatabaseAwayError extends Error {
  override readonly name = 'DatabaseAwayError'
}

/** What PostgreSQL and the embedded database say when a lock was not free in time. */
const LOCKED = /^(?:55P03$|SQLITE_BUSY)/

/** What they say when there is no room to write. */
const FULL = /^(?:53100$|SQLITE_FULL)/

/** What they say when a row refers to one that is not there. */
const NOT_THERE = /^(?:23503$|SQLITE_CONSTRAINT_FOREIGNKEY)/

/** Whether the same may succeed a little later: the database is away, or others hold what it was to lock. */
export function isDatabaseAway(error: unknown): error is Error {
  if (error instanceof DatabaseAwayError) return true
  return isDatabaseBusy(error) || isDatabaseFull(error)
}

/** Whether others hold what was to be locked: nothing was done. */
export function isDatabaseBusy(error: unknown): error is Error {
  return hasCode(error, LOCKED)
}

/** Whether there was no room to write: nothing was done. */
export function isDatabaseFull(error: unknown): error is Error {
  return hasCode(error, FULL)
}

/** Whether a row was to refer to one that was deleted meanwhile: nothing was done. */
export function isReferenceGone(error: unknown): error is Error {
  return hasCode(error, NOT_THERE)
}

function hasCode(error: unknown, pattern: RegExp): error is Error {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && pattern.test(error.code)
}
