import type { EndedHold } from '@scoregw/quota/store'
import type { HoldPage } from './hold-pages.ts'

/** How often a process looks for holds that have ended: they are settled within a second of their end. */
const SWEEP_EVERY_MS = 500
/** Holds that are settled at one time. */
const SWEPT_AT_ONCE = 32
/** Most ended holds that are kept until they are drained. */
const MAX_ENDED = 1_000

/** The dependencies of a {@link HoldSweeper}. */
export interface HoldSweeperDeps {
  /** Whether the server can be called now. */
  readonly isUsable: () => boolean
  /** Looks for holds that have ended, so many at the most. */
  readonly readPage: (most: number) => Promise<HoldPage>
  /** Settles a hold that has ended; `undefined` where another process was first. */
  readonly settle: (name: string) => Promise<EndedHold | undefined>
}

/** Gives back what holds had that were not settled, whichever process took them. */
export class HoldSweeper {
  readonly #deps: HoldSweeperDeps
  #timer: NodeJS.Timeout | undefined
  #isStopped = false
  readonly #ended: EndedHold[] = []

  constructor(deps: HoldSweeperDeps) {
    this.#deps = deps
  }

  /** From here on it sweeps by itself, and never keeps the process alive. */
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

  /** What this process has settled since the last call; so many of them at the most, the others with the next. */
  drain(most: number = MAX_ENDED): readonly EndedHold[] {
    return this.#ended.splice(0, most)
  }

  /** Settles all holds that have ended; how many are open then. */
  async sweep(): Promise<number> {
    for (let hasSettled = true; ; ) {
      const { names, size } = await this.#deps.readPage(SWEPT_AT_ONCE)
      // Where others settle the same holds, or none can be settled, the next sweep goes on.
      if (names.length === 0 || !hasSettled || this.#isStopped) return size
      const settled = (await Promise.all(names.map((name) => this.#deps.settle(name)))).filter(isDefined)
      hasSettled = settled.length > 0
      this.#ended.push(...settled.slice(0, MAX_ENDED - this.#ended.length))
    }
  }
}

function isDefined<T>(value: T | undefined): value is T {
  return value !== undefined
}
