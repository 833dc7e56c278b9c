import type { EndedHold, SweepReply } from '@scoregw/quota/store'
import type { Footprint } from './asked.ts'

/** How often a process looks for holds that have ended: they are settled within a second of their end. */
const SWEEP_EVERY_MS = 500
/** How often it looks for what may be forgotten. */
const FORGET_EVERY_MS = 5_000
/** Holds that are settled at one time. */
const SWEPT_AT_ONCE = 32
/** Most ended holds that are remembered until somebody asks. */
const MAX_ENDED = 1_000

/** What a {@link Sweeper} works with. */
export interface SweeperParts {
  /** What the holds need to be settled whose end has passed, so many at the most; one footprint a hold. */
  readonly due: (most: number) => Promise<readonly Footprint[]>
  /** Settles the hold of a footprint that {@link due} gave. */
  readonly end: (footprint: Footprint) => Promise<void>
  /** How many holds are open. */
  readonly count: () => Promise<number>
  /** Forgets some of what ended long ago. */
  readonly forget: () => Promise<void>
}

/** Gives back what holds had that nobody settled, whoever took them, and forgets what ended. */
export class Sweeper {
  readonly #parts: SweeperParts
  readonly #timers: NodeJS.Timeout[] = []
  #isStopped = false
  #ended: EndedHold[] = []
  #sweeping: Promise<void> | undefined

  constructor(parts: SweeperParts) {
    this.#parts = parts
  }

  /** From here on it sweeps by itself, and never keeps the process alive. */
  start(): void {
    const every = (ms: number, work: () => Promise<unknown>): void => {
      const timer = setInterval(() => void work().catch(() => undefined), ms)
      this.#timers.push(timer.unref())
    }
    every(SWEEP_EVERY_MS, () => this.#settleDue())
    every(FORGET_EVERY_MS, this.#parts.forget)
  }

  stop(): void {
    this.#isStopped = true
    for (const timer of this.#timers) clearInterval(timer)
  }

  /** What a step of this process has settled. */
  add(ended: readonly EndedHold[]): void {
    this.#ended.push(...ended.slice(0, MAX_ENDED - this.#ended.length))
  }

  /** Settles all holds that have ended. */
  async sweep(): Promise<SweepReply> {
    await this.#settleDue()
    const open = await this.#parts.count()
    const ended = this.#ended
    this.#ended = []
    return { ended, open }
  }

  #settleDue(): Promise<void> {
    this.#sweeping ??= this.#settleAll().finally(() => {
      this.#sweeping = undefined
    })
    return this.#sweeping
  }

  async #settleAll(): Promise<void> {
    const tried = new Set<string>()
    for (;;) {
      const footprints = await this.#parts.due(SWEPT_AT_ONCE)
      const names = footprints.map((footprint) => JSON.stringify(footprint.ids))
      // Where none can be settled, the next sweep goes on.
      if (names.every((name) => tried.has(name)) || this.#isStopped) return
      for (const name of names) tried.add(name)
      await Promise.all(footprints.map((footprint) => this.#parts.end(footprint)))
    }
  }
}
