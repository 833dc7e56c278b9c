/** Where the time comes from: an argument, so that tests turn it by hand. */
export interface Clock {
  /** The instant now, in whole epoch milliseconds. */
  now(): number
}

/** The machine's clock; with {@link systemStopwatch} the only place in the library that reads one. */
export const systemClock: Clock = { now: () => Date.now() }

/** Milliseconds with fractions since some instant, never going back: to measure how long something takes. */
export type Stopwatch = () => number

export const systemStopwatch: Stopwatch = () => performance.now()
