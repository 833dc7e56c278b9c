/** If a server hasn't responded for this long ... */
const OPEN_AFTER_MS = 500
/** ... to at least this many calls, it is no longer called, */
const OPEN_AFTER_FAILURES = 3
/** except by one call in each interval. */
const PROBE_EVERY_MS = 200

/**
 * A circuit breaker. While the server is unavailable, calls fail immediately instead of waiting for their deadlines. It
 * needs no timer, because the next call is the probe.
 */
export class Breaker {
  readonly #nowMs: () => number
  #failures = 0
  #failingSinceMs = 0
  #probedAtMs: number | undefined

  /** @param nowMs a monotonic clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Whether a call may be made now. While the circuit is open, true for one call per interval. */
  admits(): boolean {
    if (this.#probedAtMs === undefined) return true
    const nowMs = this.#nowMs()
    if (nowMs - this.#probedAtMs < PROBE_EVERY_MS) return false
    this.#probedAtMs = nowMs
    return true
  }

  /** Call when the server responds. Closes the circuit. */
  succeeded(): void {
    this.#failures = 0
    this.#probedAtMs = undefined
  }

  /** Call when the server doesn't respond. */
  failed(): void {
    const nowMs = this.#nowMs()
    if (this.#failures === 0) this.#failingSinceMs = nowMs
    this.#failures++
    const lasting = this.#failures >= OPEN_AFTER_FAILURES && nowMs - this.#failingSinceMs >= OPEN_AFTER_MS
    if (lasting) this.#probedAtMs ??= nowMs
  }
}
