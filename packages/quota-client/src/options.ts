/** Time as pacing sees it. */
export interface PacingClock {
  /** Milliseconds that only go forward, from any start. */
  readonly now: () => number
  /** Calls once after `ms`; returns what takes it back. */
  readonly timer: (call: () => void, ms: number) => () => void
}

/** What a request shows of itself, to say whose limits it counts to. */
export interface OutgoingRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
}

export interface PacedFetchOptions {
  /** The longest that one call waits in all, in milliseconds: 60,000 by default. */
  readonly maxWaitMs?: number | undefined
  /** How often a refused request that is safe to repeat is sent again: 2 by default. */
  readonly retries?: number | undefined
  /** Requests of one key share what was learnt: origin and credential by default. */
  readonly key?: ((request: OutgoingRequest) => string) | undefined
  /** Hears of each wait before it begins; `ms` is `undefined` while a response on its way has to say. */
  readonly onWait?: ((wait: { readonly url: string; readonly ms: number | undefined }) => void) | undefined
  readonly clock?: PacingClock | undefined
  /** From 0 to 1: how far after the true instant a request goes. `Math.random` by default. */
  readonly random?: (() => number) | undefined
}

/** The limit is known to refuse for longer than a call may wait: the request was not sent, or not again. */
export class QuotaWaitError extends Error {
  override readonly name = 'QuotaWaitError'
  /** Milliseconds until a request may go. */
  readonly retryAfterMs: number

  constructor(retryAfterMs: number, maxWaitMs: number) {
    super(`The limit leaves nothing for ${Math.ceil(retryAfterMs)} ms, longer than maxWaitMs (${maxWaitMs}) allows`)
    this.retryAfterMs = retryAfterMs
  }
}

/** Timers of JavaScript reach no further. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** @throws TypeError naming the option that is wrong */
export function wholeOption(name: string, value: unknown, fallback: number, most: number = MAX_TIMER_MS): number {
  if (value === undefined) return fallback
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most) return value as number
  throw new TypeError(`pacedFetch: ${name} must be a whole number from 0 to ${most}; it is ${String(value)}`)
}

export const systemClock: PacingClock = {
  now: () => performance.now(),
  timer: (call, ms) => {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
}
