import { QuotaError } from '@scoregw/quota'
import {
  type AsyncStore,
  notDone,
  type SnapshotPart,
  type StoreAbilities,
  type StoreSchema,
  type SyncCounters,
  type SyncStore,
  systemClock,
} from '@scoregw/quota/store'
import { FORMAT, tableNames } from '../schema/tables.ts'
import { type Ask, countersOf, type SqlCounters } from '../step/counters.ts'
import { operationOf } from '../step/operation.ts'
import { storeError } from '../step/store-error.ts'
import { Sweeper } from '../step/sweeper.ts'
import { endWork } from '../step/works.ts'
import { SqliteFile } from './file.ts'
import {
  parseSqliteStoreOptions,
  parseSyncSqliteStoreOptions,
  type SqliteStoreOptions,
  type SyncSqliteStoreOptions,
} from './options.ts'
import { SyncSqliteCounters } from './sync-counters.ts'
import { failureOf, instant, SqliteTurns } from './turns.ts'
import { askWithin, requireTransaction } from './within.ts'

/** Rows and ids that are forgotten at one time. */
const FORGOTTEN_AT_ONCE = 100

const CAN: StoreAbilities = { calendar: true, holds: true, concurrency: 'all', fit: true }

/** An {@link AsyncStore} on an SQLite file, which several processes of one machine may share. */
export interface SqliteStore extends AsyncStore {
  readonly sync: false
  readonly deadlineMs: number
  /** Counters of a policy. Several may be open at once; where names agree, they are the same counters. */
  open(schema: StoreSchema): SqlCounters
  /** @param transaction kysely's `Transaction`, on the same connection */
  within(schema: StoreSchema, transaction: unknown): SqlCounters
  /**
   * Takes over what a part of a memory store's snapshot holds; rows and ids that are here already stay as they are.
   * @throws {QuotaError} `store_error`
   */
  restore(part: SnapshotPart): Promise<void>
  /** Waits for the calls under way; later ones reject. The connection is left open. */
  close(): Promise<void>
}

/**
 * Counters in an SQLite file: what a process asks in one turn of the event loop is one transaction, as durable as the
 * connection makes those.
 *
 * @throws {QuotaError} `invalid_options` naming every fault; `store_mismatch` for tables of another format; `store_error`
 *   where there are none
 * @example
 * const database = new Database('quota.sqlite')
 * const db = new Kysely({ dialect: new SqliteDialect({ database }) })
 * await migrateQuota(db, { dialect: 'sqlite' })
 * const quota = createQuota({ policy: defaultPolicy(), store: sqliteStore({ database, db }) })
 */
export function sqliteStore(options: SqliteStoreOptions): SqliteStore {
  const { database, prefix, clock, db, deadlineMs, synchronous } = parseSqliteStoreOptions(options)
  const file = checkedFile(new SqliteFile(database, tableNames(prefix)))
  const turns = new SqliteTurns({ file, clock, db, deadlineMs, synchronous, ended: (holds) => sweeper.add(holds) })
  let isClosed = false
  const ask: Ask = (work) =>
    new Promise((resolve, reject) => {
      if (isClosed) reject(notDone(storeError('this SQLite store was closed')))
      else turns.ask(operationOf(work, { resolve, reject }))
    })
  const small = async <T>(work: () => T): Promise<T> => {
    try {
      return await turns.inTurn(work)
    } catch (error) {
      throw failureOf(error)
    }
  }
  const sweeper = new Sweeper({
    due: (most) => small(() => file.due(instant(clock), most)),
    end: (footprint) => ask(endWork(footprint)),
    count: () => small(() => file.countHolds()),
    forget: () => small(() => file.forget(instant(clock), FORGOTTEN_AT_ONCE)),
  })
  // A clock in somebody's hand turns no timers.
  if (clock === systemClock) sweeper.start()
  return {
    sync: false,
    can: CAN,
    deadlineMs,
    open: (schema) => countersOf(schema, file.layouts, ask, () => sweeper.sweep()),
    within: (schema, transaction) => {
      requireTransaction(transaction, database)
      return countersOf(schema, file.layouts, askWithin(file, clock), () => sweeper.sweep())
    },
    restore: (part) => small(() => file.whole(() => file.restore(part, instant(clock)))),
    async close() {
      isClosed = true
      sweeper.stop()
      await turns.idle()
    },
  }
}

/**
 * The same, answering at once: each call is a transaction of its own, and the process waits for it. For connections that
 * nobody else works on.
 *
 * @throws {QuotaError} `invalid_options` naming every fault; `store_mismatch` for tables of another format; `store_error`
 *   where there are none
 */
export function syncSqliteStore(options: SyncSqliteStoreOptions): SyncStore {
  const { database, prefix, clock } = parseSyncSqliteStoreOptions(options)
  const file = checkedFile(new SqliteFile(database, tableNames(prefix)))
  return {
    sync: true,
    can: CAN,
    open: (schema): SyncCounters => new SyncSqliteCounters(file, clock, schema),
  }
}

function checkedFile(file: SqliteFile): SqliteFile {
  let version: number
  try {
    version = file.format()
  } catch (error) {
    throw failureOf(error)
  }
  if (version === FORMAT) return file
  const message = `the tables are of format ${version}, and this version needs ${FORMAT}: run its migrations`
  throw new QuotaError('store_mismatch', message)
}
