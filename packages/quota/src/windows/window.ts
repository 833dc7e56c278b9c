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
