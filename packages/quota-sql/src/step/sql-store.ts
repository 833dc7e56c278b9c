import { type AsyncStore, notDone, type StoreAbilities, type StoreSchema } from '@scoregw/quota/store'
import { countersOf, type Perform, type SqlCounters } from './counters.ts'
import { type Operation, operationOf } from './operation.ts'
import type { Layouts } from './row-layout.ts'
import { storeError } from './store-error.ts'
import { Sweeper, type SweeperDeps } from './sweeper.ts'

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
    open: (schema) => countersOf(schema, layouts, perform, sweep),
    inTransaction: (schema, transaction) => countersOf(schema, layouts, inTransaction(transaction), sweep),
    close() {
      sweeper.stop()
      closing ??= deps.idle()
      return closing
    },
  }
  return { store, sweeper }
}
