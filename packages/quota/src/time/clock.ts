import { QuotaError } from '../errors/quota-error.ts'

/** The time as an argument, so that tests control it. */
export interface Clock {
  /** The instant now, in whole epoch milliseconds. */
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
  throw new QuotaError('store_error', `the clock said ${String(now)}: expected whole epoch milliseconds`)
}

/** The machine's clock. It and `systemStopwatch` are the only places in the library that read one. */
export const systemClock: Clock = { now: () => Date.now() }

/** Monotonic milliseconds with fractions, to measure durations. */
export type Stopwatch = () => number

export const systemStopwatch: Stopwatch = () => performance.now()
