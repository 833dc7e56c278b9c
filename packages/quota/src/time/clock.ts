import { QuotaError } from '../errors/quota-error.ts'

/** A source of time. Tests pass one that they control. */
export interface Clock {
  /** Returns the current time in whole epoch milliseconds. */
  now(): number
}

/**
 * Reads a clock for windows. An invalid time would end every window.
 *
 * @throws {QuotaError} `store_error` for anything but whole milliseconds
 */
export function instantOf(clock: Clock): number {
  const now = clock.now()
  if (Number.isSafeInteger(now)) return now
  throw new QuotaError('store_error', `the clock returned ${String(now)}: expected whole epoch milliseconds`)
}

/** The machine's clock. Only this and `systemStopwatch` read the real time. */
export const systemClock: Clock = { now: () => Date.now() }

/** Returns monotonic milliseconds with fractions, to measure durations. */
export type Stopwatch = () => number

export const systemStopwatch: Stopwatch = () => performance.now()
