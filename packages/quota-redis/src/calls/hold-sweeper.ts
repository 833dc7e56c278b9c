import type { HoldPage } from './hold-pages.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setInterval, clearInterval } = globalThis

/** How often a process checks for expired holds. They are refunded within a second. */
const SWEEP_EVERY_MS = 500
/** How many holds are settled together. */
const SWEPT_AT_ONCE = 32

/** The dependencies of a {@link HoldSweeper}. */
export interface HoldSweeperDeps {
  /** Whether the server can be called now. */
  readonly isUsable: () => boolean
  /** Reads up to `most` holds that have expired. */
  readonly readPage: (most: number) => Promise<HoldPage>
  /** Settles an expired hold. @returns false if another process was faster */
  readonly settle: (name: string) => Promise<boolean>
}

/** Refunds expired holds of all processes. */
export class HoldSweeper {
  readonly #deps: HoldSweeperDeps
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(deps: HoldSweeperDeps) {
    this.#deps = deps
  }

  /** Sweeps periodically from now on. It does not keep the process alive. */
  start(): void {
    let isSweeping = false
    this.#timer = setInterval(async () => {
      if (isSweeping || !this.#deps.isUsable()) return
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

  /** Settles all expired holds. @returns how many are open afterwards */
  async sweep(): Promise<number> {
    for (let hasSettled = true; ; ) {
      const { names, size } = await this.#deps.readPage(SWEPT_AT_ONCE)
      // If others settle the same holds, or none can be settled, the next sweep continues.
      if (names.length === 0 || !hasSettled || this.#isStopped) return size
      hasSettled = (await Promise.all(names.map((name) => this.#deps.settle(name)))).includes(true)
    }
  }
}
