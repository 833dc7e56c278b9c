import type { EndedHold, SweepReply } from '@scoregw/quota/store'
import type { Perform } from './counters.ts'
import { textOf } from './names.ts'
import type { Work } from './operation.ts'
import { placeOf } from './requested.ts'
import { readableFootprint, type StoredHold } from './stored.ts'

/** How often a process looks for holds that have ended: they are settled within a second of their end. */
const SWEEP_EVERY_MS = 500
/** How often it looks for what may be deleted. */
const FORGET_EVERY_MS = 5_000
/** Holds that are settled at one time. */
export const SWEPT_AT_ONCE = 32
/** Most ended holds that are kept for the next `sweep`. */
const MAX_ENDED = 1_000

/** The dependencies of a {@link Sweeper}. */
export interface SweeperDeps {
  /** Holds that have ended, the earliest first, so many at the most. */
  readonly due: (most: number) => Promise<readonly StoredHold[]>
  readonly perform: Perform
  /** How many holds are open. */
  readonly count: () => Promise<number>
  /** Deletes some of what ended long ago. */
  readonly forget: () => Promise<unknown>
}

/**
 * The end of a hold that was not settled: holds past their end are settled before anything is decided. One that cannot be read
 * is set aside; the answer is whether it was.
 */
export function endWork(hold: StoredHold): Work<boolean> {
  const footprint = readableFootprint(hold)
  if (footprint !== undefined) return { footprint, decide: () => false }
  const ids = [placeOf(hold.key)]
  return { footprint: { ids }, decide: (step) => step.setAside(ids) }
}

/** Warns of a hold that was set aside; the next sweep does not meet it. */
export function warnOfAside({ key: [category, owner] }: StoredHold): void {
  const which = `a hold of ${JSON.stringify(textOf(owner))} in ${JSON.stringify(category)}`
  process.emitWarning(`${which} cannot be read and was set aside; a reset of the subject removes it`, {
    type: 'QuotaWarning',
    code: 'damaged_hold',
  })
}

/** The holds that ended, until they are reported. */
export class Ended {
  readonly #holds: EndedHold[] = []

  readonly add = (ended: readonly EndedHold[]): void => {
    this.#holds.push(...ended.slice(0, MAX_ENDED - this.#holds.length))
  }

  drain(): EndedHold[] {
    return this.#holds.splice(0)
  }
}

/** Gives back what holds had that were not settled, of all processes, and deletes what ended. */
export class Sweeper {
  readonly ended: Ended = new Ended()
  readonly #deps: SweeperDeps
  readonly #timers: NodeJS.Timeout[] = []
  #isStopped = false
  #sweeping: Promise<void> | undefined

  constructor(deps: SweeperDeps) {
    this.#deps = deps
  }

  /** From here on it sweeps by itself, and never keeps the process alive. */
  start(): void {
    const every = (ms: number, work: () => Promise<unknown>): void => {
      const timer = setInterval(() => void work().catch(() => undefined), ms)
      this.#timers.push(timer.unref())
    }
    every(SWEEP_EVERY_MS, () => this.#settleDue())
    every(FORGET_EVERY_MS, this.#deps.forget)
  }

  stop(): void {
    this.#isStopped = true
    for (const timer of this.#timers) clearInterval(timer)
  }

  /** Settles all holds that have ended. */
  async sweep(): Promise<SweepReply> {
    await this.#settleDue()
    const open = await this.#deps.count()
    return { ended: this.ended.drain(), open }
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
      const due = await this.#deps.due(SWEPT_AT_ONCE)
      const names = due.map(({ key }) => key.join('\0'))
      // Where none can be settled, the next sweep goes on.
      if (names.every((name) => tried.has(name)) || this.#isStopped) return
      for (const name of names) tried.add(name)
      await Promise.all(due.map((hold) => this.#end(hold)))
    }
  }

  async #end(hold: StoredHold): Promise<void> {
    if (await this.#deps.perform(endWork(hold))) warnOfAside(hold)
  }
}
