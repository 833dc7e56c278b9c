/** The clock and timers of pacing. */
export interface PacingClock {
  /** Monotonic milliseconds, from any start. */
  readonly now: () => number
  /** Calls once after `ms`; returns a function that cancels it. */
  readonly timer: (call: () => void, ms: number) => () => void
}

/** The parts of a request that determine whose limits it counts toward. */
export interface OutgoingRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  /** The body, if it is text. */
  readonly body: string | undefined
}

export interface PacedFetchOptions {
  /** The longest total wait of one call, in milliseconds: 90,000 by default. */
  readonly maxWaitMs?: number | undefined
  /** How often a refused request that is safe to repeat is sent again: 2 by default. */
  readonly retries?: number | undefined
  /**
   * Requests with the same key share what was learnt: by default those with the same origin, credential and `model` of a
   * JSON body.
   */
  readonly key?: ((request: OutgoingRequest) => string) | undefined
  /** Called before each wait. `ms` is `undefined` while the answer depends on a response in flight. */
  readonly onWait?: ((wait: { readonly url: string; readonly ms: number | undefined }) => void) | undefined
  readonly clock?: PacingClock | undefined
  /** From 0 to 1: how long after the exact instant a request is sent. `Math.random` by default. */
  readonly random?: (() => number) | undefined
}

/** Thrown when a limit refuses for longer than a call may wait. The request wasn't sent, or wasn't sent again. */
export class QuotaWaitError extends Error {
  override readonly name = 'QuotaWaitError'
  /** Milliseconds until the request can be sent. */
  readonly retryAfterMs: number

  constructor(retryAfterMs: number, maxWaitMs: number) {
    super(`The limit leaves nothing for ${Math.ceil(retryAfterMs)} ms, longer than maxWaitMs (${maxWaitMs}) allows`)
    this.retryAfterMs = retryAfterMs
  }
}

const FUNCTIONS = ['key', 'onWait', 'random']
const NAMES: readonly string[] = ['maxWaitMs', 'retries', 'clock', ...FUNCTIONS]

/** @throws TypeError naming an option that doesn't exist, or one that must be a function */
export function checkNames(options: PacedFetchOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (!NAMES.includes(name)) throw new TypeError(`pacedFetch: unknown option ${name}; known: ${NAMES.join(', ')}`)
    if (FUNCTIONS.includes(name) && value !== undefined && typeof value !== 'function')
      throw new TypeError(`pacedFetch: ${name} must be a function`)
  }
}

/** The longest delay of a JavaScript timer. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** @throws TypeError naming the wrong option */
export function wholeOption(name: string, value: unknown, fallback: number, most: number = MAX_TIMER_MS): number {
  if (value === undefined) return fallback
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most) return value as number
  throw new TypeError(
    `pacedFetch: ${name} must be a whole number from 0 to ${most}; it is ${typeof value === 'string' ? `"${value}"` : String(value)}`,
  )
}

export const systemClock: PacingClock = {
  now: () => performance.now(),
  timer: (call, ms) => {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
}
