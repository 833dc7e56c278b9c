/** How long the best estimate is used, in milliseconds. After that, the newest one is. */
const RECENT_MS = 1_000

/**
 * An estimate of a server's clock that is never ahead of it: an answer contains the server's time, and arrives later.
 * The least delayed answer of the last second gives the best estimate.
 */
export class ServerClock {
  #aheadMs: number | undefined
  #notedAtMs = 0

  /**
   * @param serverMs the server's time in an answer, epoch milliseconds
   * @param nowMs this process's monotonic clock
   */
  note(serverMs: number, nowMs: number): void {
    const aheadMs = serverMs - nowMs
    if (this.#aheadMs !== undefined && aheadMs <= this.#aheadMs && nowMs - this.#notedAtMs < RECENT_MS) return
    this.#aheadMs = aheadMs
    this.#notedAtMs = nowMs
  }

  /** The server's time at an instant of the monotonic clock; `Infinity` before the first answer. */
  at(ms: number): number {
    return this.#aheadMs === undefined ? Number.POSITIVE_INFINITY : ms + this.#aheadMs
  }
}
