/** Where the time comes from: an argument, so that tests turn it by hand. */
export interface Clock {
  /** The instant now, in whole epoch milliseconds. */
  now(): number
}

/** The machine's clock; the only place in the library that reads one. */
export const systemClock: Clock = { now: () => Date.now() }
