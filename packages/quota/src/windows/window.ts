/** A window: a label people read and a length. It opens with the first admitted request and ends `lengthMs` later. */
export interface WindowDefinition {
  /** Name in settings, status, bodies and headers, for example `1h`: 1 to 32 of `A-Z a-z 0-9 _ -`. */
  readonly label: string
  /** Length in milliseconds, 1 second to 366 days. */
  readonly lengthMs: number
}

/** Shortest window, in milliseconds. */
export const MIN_WINDOW_MS = 1_000
/** Longest window, in milliseconds. */
export const MAX_WINDOW_MS: number = 366 * 86_400_000

/** `used` of a window that a reset closed, or that never opened. */
export const CLOSED = -1

/** Most tokens that a window counts: what was used stays a safe integer. */
export const MAX_USED: number = Number.MAX_SAFE_INTEGER

/**
 * How long a row is kept after its last window ended, so that a clock stepping back a little finds it again. In
 * milliseconds.
 */
export const GRACE_MS = 60_000

/** In a reply's state: the start of a window that is not open. */
export const NOT_OPEN = -1

/**
 * A window that starts further than this ahead of the clock was opened by a clock that once ran ahead; it is moved to
 * the present (keeping what was used), or its users would be locked out until that future. In milliseconds.
 */
export const MAX_AHEAD_MS = 5_000
