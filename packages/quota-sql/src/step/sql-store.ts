import {
  type AsyncStore,
  type EndedHold,
  notDone,
  type StoreAbilities,
  type StoreSchema,
  type SweepReply,
} from '@scoregw/quota/store'
import { countersOf, type Perform, type SqlCounters } from './counters.ts'
import { type Operation, operationOf, type Work } from './operation.ts'
import { rowRef } from './requested.ts'
import { storeError } from './store-error.ts'
import { type Layouts, placeOf, readable, type StoredHold, textOf } from './stored.ts'

export const CAN: StoreAbilities = {
  calendar: true,
  holds: true,
  concurrency: 'all',
  fit: true,
  bucket: true,
  sets: true,
}

/** An asynchronous store in a database. */
export interface SqlStore extends AsyncStore {
  readonly sync: false
  readonly deadlineMs: number
  /** Counters of a policy. Several can be open at the same time; counters with the same names are the same. */
  open(schema: StoreSchema): SqlCounters
  /**
   * Counters that work in your transaction. @param transaction kysely's `Transaction`, on the database or connection
   * with the tables
   */
  inTransaction(schema: StoreSchema, transaction: unknown): SqlCounters
  /** Waits for calls in flight, at most one deadline; later calls reject. The pool or connection stays open. */
  close(): Promise<void>
}

/** The dependencies of {@link sqlStore}. */
export interface SqlStoreDeps extends Omit<SweeperDeps, 'perform'> {
  /** The database's name. */
  readonly name: string
  readonly deadlineMs: number
  readonly layouts: Layouts
  /** Whether it sweeps on a timer. */
  readonly isTimed: boolean
  /** Answers or fails an operation within the deadline. */
  readonly transact: (operation: Operation) => void
  /** Runs work in the caller's transaction. */
  readonly inTransaction: (transaction: unknown) => Perform
  /** Resolves when nothing is in flight. */
  readonly idle: () => Promise<void>
}

/** Creates a store and its sweeper. */
export function sqlStore(deps: SqlStoreDeps): { readonly store: SqlStore; readonly sweeper: Sweeper } {
  const { deadlineMs, layouts, inTransaction, transact } = deps
  let closing: Promise<void> | undefined
  const perform: Perform = (work) =>
    new Promise((resolve, reject) => {
      if (closing !== undefined) reject(notDone(storeError(`this ${deps.name} store was closed`)))
      else transact(operationOf(work, resolve, reject))
    })
  const sweeper = new Sweeper({ ...deps, perform })
  if (deps.isTimed) sweeper.start()
  const sweep = () => sweeper.sweep()
  const store: SqlStore = {
    sync: false,
    can: CAN,
    deadlineMs,
    open: (schema) => countersOf(schema, { layouts, perform, sweep }),
    inTransaction: (schema, transaction) => countersOf(schema, { layouts, perform: inTransaction(transaction), sweep }),
    close() {
      sweeper.stop()
      closing ??= deps.idle()
      return closing
    },
  }
  return { store, sweeper }
}

// Expired holds -------------------------------------------------------------------------------------------------------

// As they are now: a test may replace them later, and a server goes on.
const { setInterval, clearInterval } = globalThis

/** How often a process checks for expired holds. They are settled within a second of their end. */
const SWEEP_EVERY_MS = 500
/** How often it deletes old rows. */
const FORGET_EVERY_MS = 5_000
/** How many holds are settled together. */
export const SWEPT_AT_ONCE = 32
/** The most ended holds that are kept for the next `sweep`. */
const MAX_ENDED = 1_000

/** The dependencies of a {@link Sweeper}. */
export interface SweeperDeps {
  /** Reads expired holds, earliest end first, at most so many. */
  readonly due: (most: number) => Promise<readonly StoredHold[]>
  readonly perform: Perform
  /** How many holds are open. */
  readonly count: () => Promise<number>
  /** Deletes some long-ended rows. */
  readonly forget: () => Promise<unknown>
}

/**
 * Work that settles an expired hold. A hold is settled before any decision after its end. If its record cannot be read,
 * it is set aside, and the result is `true`.
 */
export function endWork(hold: StoredHold): Work<boolean> {
  const ids = [placeOf(hold.key)]
  const rows = readable(hold.record).hold?.rows.map(rowRef)
  if (rows !== undefined) return { footprint: { ids, rows }, decide: () => false }
  return { footprint: { ids }, decide: (step) => step.setAside(ids) }
}

/** Warns of a hold that was set aside. The next sweep skips it. */
export function warnOfAside({ key: [by, owner] }: StoredHold): void {
  const which = `a hold of ${JSON.stringify(textOf(owner))} in layer ${JSON.stringify(by)}`
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

/** Refunds expired holds of all processes, and deletes old rows. */
export class Sweeper {
  readonly ended: Ended = new Ended()
  readonly #deps: SweeperDeps
  readonly #timers: NodeJS.Timeout[] = []
  #isStopped = false
  #sweeping: Promise<void> | undefined

  constructor(deps: SweeperDeps) {
    this.#deps = deps
  }

  /** Sweeps on a timer from now on. The timer doesn't keep the process alive. */
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

  /** Settles all expired holds. */
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
      // If none can be settled, the next sweep continues.
      if (names.every((name) => tried.has(name)) || this.#isStopped) return
      for (const name of names) tried.add(name)
      await Promise.all(due.map((hold) => this.#end(hold)))
    }
  }

  async #end(hold: StoredHold): Promise<void> {
    if (await this.#deps.perform(endWork(hold))) warnOfAside(hold)
  }
}
