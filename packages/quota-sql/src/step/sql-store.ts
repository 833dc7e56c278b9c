import { QuotaError } from '@scoregw/quota'
import { type AsyncStore, notDone, type StoreAbilities, type StoreSchema } from '@scoregw/quota/store'
import { FORMAT } from '../schema/tables.ts'
import { countersOf, type Perform, type SqlCounters } from './counters.ts'
import { type Operation, operationOf } from './operation.ts'
import type { Layouts } from './row-layout.ts'
import { storeError } from './store-error.ts'
import { Sweeper, type SweeperDeps } from './sweeper.ts'

export const CAN: StoreAbilities = { calendar: true, holds: true, concurrency: 'all', fit: true, bucket: true }

/** A store in a database that answers later. */
export interface SqlStore extends AsyncStore {
  readonly sync: false
  readonly deadlineMs: number
  /** Counters of a policy. Several may be open together; where names agree, they are the same counters. */
  open(schema: StoreSchema): SqlCounters
  /** @param transaction kysely's `Transaction`, on the database or connection that has the tables */
  within(schema: StoreSchema, transaction: unknown): SqlCounters
  /** Waits for calls in flight, a deadline at most; later ones reject. The pool or connection is left open. */
  close(): Promise<void>
}

/** The parts of a store. */
export interface SqlStoreDeps extends Omit<SweeperDeps, 'perform'> {
  /** Of the database. */
  readonly name: string
  readonly deadlineMs: number
  readonly layouts: Layouts
  /** Whether it sweeps by itself. */
  readonly isTimed: boolean
  /** Answers or fails an operation, within the deadline. */
  readonly transact: (operation: Operation) => void
  /** Works in a transaction of the caller's. */
  readonly within: (transaction: unknown) => Perform
  /** Resolves when nothing is in flight. */
  readonly idle: () => Promise<void>
}

/** A store and what sweeps it. */
export function sqlStore(deps: SqlStoreDeps): { readonly store: SqlStore; readonly sweeper: Sweeper } {
  const { deadlineMs, layouts, within, transact } = deps
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
    within: (schema, transaction) => countersOf(schema, layouts, within(transaction), sweep),
    close() {
      sweeper.stop()
      closing ??= deps.idle()
      return closing
    },
  }
  return { store, sweeper }
}

/** @throws {QuotaError} `store_mismatch` for tables of another format */
export function checkFormat(version: number): void {
  if (version === FORMAT) return
  const message = `the tables are of format ${version}, and this version needs ${FORMAT}: run its migrations`
  throw new QuotaError('store_mismatch', message)
}
