import type { SettleRequest } from '../../store/quota-store.ts'
import type { TakeDemand } from './demands.ts'
import type { Fallback } from './fallback.ts'

// As they are now: a test may replace them later.
const { setTimeout, clearTimeout } = globalThis

/** How often a process that spent without the store checks whether the store is back, in milliseconds. */
const CHECK_EVERY_MS = 1_000

export interface OwedDeps {
  readonly fallback: Fallback
  /** Reads the counters of a request. */
  readonly read: (demand: TakeDemand) => Promise<unknown>
  /** Charges the store. Never throws. */
  readonly post: (posting: Omit<SettleRequest, 'id'>) => void
}

/**
 * What a process spent while the store was unavailable, and charges when it is back: with the next reply, or if a read
 * succeeds, which is tried every second.
 */
export class Owed {
  readonly #deps: OwedDeps
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The last request that spent. */
  #demand: TakeDemand | undefined

  constructor(deps: OwedDeps) {
    this.#deps = deps
  }

  /** Call after the failure policy admitted a request. */
  spentBy(demand: TakeDemand): void {
    this.#demand = demand
    if (this.#timer === undefined && this.#deps.fallback.owes) this.#checkLater()
  }

  /** Call while the store responds. */
  pay(): void {
    for (const posting of this.#deps.fallback.takePostings()) this.#deps.post(posting)
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #checkLater(): void {
    this.#timer = setTimeout(() => void this.#check(), CHECK_EVERY_MS)
    // In Node, the timer must not keep the process alive. Elsewhere, timers are numbers without `unref`.
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  async #check(): Promise<void> {
    this.#timer = undefined
    const { fallback, read } = this.#deps
    if (!fallback.owes || this.#demand === undefined) return
    const isBack = await read(this.#demand).then(
      () => true,
      () => false,
    )
    if (isBack) this.pay()
    else if (this.#timer === undefined) this.#checkLater()
  }
}
