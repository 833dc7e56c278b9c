/** The database is unreachable or doesn't answer in time. The statement may have run or not. */
export class DatabaseAwayError extends Error {
  override readonly name = 'DatabaseAwayError'
}

/** Codes of PostgreSQL and SQLite for a lock that wasn't free in time. */
const LOCKED = /^(?:55P03$|SQLITE_BUSY)/

/** Codes for a full disk. */
const FULL = /^(?:53100$|SQLITE_FULL)/

/** Codes for a reference to a missing row. */
const NOT_THERE = /^(?:23503$|SQLITE_CONSTRAINT_FOREIGNKEY)/

/** Whether a retry may succeed soon: the database is unreachable, or others hold a lock that it needs. */
export function isDatabaseAway(error: unknown): error is Error {
  if (error instanceof DatabaseAwayError) return true
  return isDatabaseBusy(error) || isDatabaseFull(error)
}

/** Whether others held a lock that was needed. Nothing was done. */
export function isDatabaseBusy(error: unknown): error is Error {
  return hasCode(error, LOCKED)
}

/** Whether the disk was full. Nothing was done. */
export function isDatabaseFull(error: unknown): error is Error {
  return hasCode(error, FULL)
}

/** Whether a referenced row was deleted meanwhile. Nothing was done. */
export function isReferenceGone(error: unknown): error is Error {
  return hasCode(error, NOT_THERE)
}

function hasCode(error: unknown, pattern: RegExp): error is Error {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && pattern.test(error.code)
}
