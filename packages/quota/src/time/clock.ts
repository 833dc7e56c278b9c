import { QuotaError } from '../errors/quota-error.ts'

/** Where the time comes from: an argument, so that tests turn it by hand. */
export interface Clock {
  /** The instant now, in whole epoch milliseconds. */
  now(): number
}

/**
 * What a clock says, where windows are judged by it: a time that is none would make every window one that ended.
 *
 * @throws {QuotaError} `store_error` for anything but whole milliseconds
 */
export function instantOf(clock: Clock): number {
  const now = clock.now()
  if (Number.isSafeInteger(now)) return now
  throw new QuotaError('store_error', `the clock said ${String(now)}: expected whole epoch milliseconds`)
}

/** The machine's clock; with `systemStopwatch` the only place in the library that reads one. */
export const systemClock: Clock = { now: () => Date.now() }

/** Milliseconds with fractions since some instant, never going back: to measure how long something takes. */
export type Stopwatch = () => number

export const systemStopwatch: Stopwatch = () => performance.now()
