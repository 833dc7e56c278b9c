import type { HoldIndexes } from './hold-indexes.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setInterval, clearInterval } = globalThis

/** How often a process checks for expired holds. They are refunded within a second. */
const SWEEP_EVERY_MS = 500
/** How many holds are settled together. */
const SWEPT_AT_ONCE = 32

/** Refunds expired holds of all processes. */
export class HoldSweeper {
  readonly #indexes: HoldIndexes
  readonly #index: string
  readonly #settle: (name: string) => Promise<boolean>
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  /**
   * @param index of all open holds
   * @param settle settles an expired hold. It resolves to false if another process was faster
   */
  constructor(indexes: HoldIndexes, index: string, settle: (name: string) => Promise<boolean>) {
    this.#indexes = indexes
    this.#index = index
    this.#settle = settle
  }

  /** Sweeps periodically from now on. It does not keep the process alive. */
  start(): void {
    let isSweeping = false
    this.#timer = setInterval(async () => {
      if (isSweeping || !this.#indexes.isUsable) return
      isSweeping = true
      await this.sweep().catch(() => undefined)
      isSweeping = false
    }, SWEEP_EVERY_MS)
    this.#timer.unref()
  }

  stop(): void {
    this.#isStopped = true
    clearInterval(this.#timer)
  }

  /** Settles all expired holds. */
  async sweep(): Promise<void> {
    for (let hasSettled = true; hasSettled && !this.#isStopped; ) {
      const names = await this.#indexes.ended(this.#index, SWEPT_AT_ONCE)
      // If others settle the same holds, or none can be settled, the next sweep continues.
      hasSettled = (await Promise.all(names.map((name) => this.#settle(name)))).includes(true)
    }
  }
}
