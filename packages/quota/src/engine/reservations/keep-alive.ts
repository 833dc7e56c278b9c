import { QuotaError } from '../../errors/quota-error.ts'

/** A hold is extended when this share of its life has passed: two extensions may fail before it ends. */
const EXTEND_AFTER = 1 / 3
/** Longest that a timer can wait, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Extends a hold again and again, until the returned function is called, the hold is settled, or it has ended. An extension
 * that fails is followed by the next.
 *
 * @param ttlMs what each extension asks for
 */
export function keepAlive(extend: () => Promise<unknown>, ttlMs: number, isSettled: () => boolean): () => void {
  const everyMs = Math.min(Math.max(1, Math.floor(ttlMs * EXTEND_AFTER)), MAX_TIMER_MS)
  const timer = setInterval(() => {
    if (isSettled()) stop()
    else extend().catch(endIfExpired)
  }, everyMs)
  // The work keeps the process alive, not the hold.
  ;(timer as { unref?: () => void }).unref?.()

  function stop(): void {
    clearInterval(timer)
  }

  function endIfExpired(error: unknown): void {
    if (error instanceof QuotaError && error.code === 'reservation_expired') stop()
  }

  return stop
}

/** How often ended holds are asked for while somebody listens, in milliseconds. */
const EVERY_MS = 1_000

/** Asks for ended holds, again and again, while somebody wants to hear of them. */
export class HoldWatch {
  readonly #sweep: () => Promise<unknown>
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(sweep: () => Promise<unknown>) {
    this.#sweep = sweep
  }

  /** Begins, if it has not. */
  start(): void {
    // A failed look is followed by the next.
    this.#timer ??= setInterval(() => void this.#sweep().catch(() => undefined), EVERY_MS)
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
