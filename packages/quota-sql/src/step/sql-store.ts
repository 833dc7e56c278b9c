import { QuotaError } from '@scoregw/quota'
import { type AsyncStore, notDone, type StoreAbilities, type StoreSchema } from '@scoregw/quota/store'
import { FORMAT } from '../schema/tables.ts'
import { type Ask, countersOf, type SqlCounters } from './counters.ts'
import { type Operation, operationOf } from './operation.ts'
import type { Layouts } from './row-layout.ts'
import { storeError } from './store-error.ts'
import { Sweeper, type SweeperParts } from './sweeper.ts'

export const CAN: StoreAbilities = { calendar: true, holds: true, concurrency: 'all', fit: true, bucket: true }

/** A store in a database that answers later. */
export interface SqlStore extends AsyncStore {
  readonly sync: false
  readonly deadlineMs: number
  /** Counters of a policy. Several may be open at once; where names agree, they are the same counters. */
  open(schema: StoreSchema): SqlCounters
  /** @param transaction kysely's `Transaction`, on the database or connection that has the tables */
  within(schema: StoreSchema, transaction: unknown): SqlCounters
  /** Waits for calls in flight, a deadline at most; later ones reject. The pool or connection is left open. */
  close(): Promise<void>
}

/** What a store is made of. */
export interface SqlStoreParts extends Omit<SweeperParts, 'ask'> {
  /** Of the database. */
  readonly name: string
  readonly deadlineMs: number
  readonly layouts: Layouts
  /** Whether it sweeps by itself. */
  readonly isTimed: boolean
  /** Answers or fails an operation, within the deadline. */
  readonly transact: (operation: Operation) => void
  /** Works in a transaction of the caller's. */
  readonly within: (transaction: unknown) => Ask
  /** Resolves when nothing is in flight. */
  readonly idle: () => Promise<void>
}

/** A store and what sweeps it. */
export function sqlStore(parts: SqlStoreParts): { readonly store: SqlStore; readonly sweeper: Sweeper } {
  const { deadlineMs, layouts, within, transact } = parts
  let closing: Promise<void> | undefined
  const ask: Ask = (work) =>
    new Promise((resolve, reject) => {
      if (closing !== undefined) reject(notDone(storeError(`this ${parts.name} store was closed`)))
      else transact(operationOf(work, resolve, reject))
    })
  const sweeper = new Sweeper({ ...parts, ask })
  if (parts.isTimed) sweeper.start()
  const sweep = () => sweeper.sweep()
  const store: SqlStore = {
    sync: false,
    can: CAN,
    deadlineMs,
    open: (schema) => countersOf(schema, layouts, ask, sweep),
    within: (schema, transaction) => countersOf(schema, layouts, within(transaction), sweep),
    close() {
      sweeper.stop()
      closing ??= parts.idle()
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
