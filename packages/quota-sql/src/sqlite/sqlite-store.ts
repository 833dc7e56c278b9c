import type { Clock } from '@scoregw/quota'
import { instantOf, refusedOptions } from '@scoregw/quota/internal'
import { notDone, type StoreSchema, type SyncStore, systemClock } from '@scoregw/quota/store'
import { checkFormat, tableNames } from '../schema/tables.ts'
import { countersOf, type Perform, type PerformNow } from '../step/counters.ts'
import { operationOf } from '../step/operation.ts'
import { CAN, Ended, endWork, type SqlStore, SWEPT_AT_ONCE, sqlStore, warnOfAside } from '../step/sql-store.ts'
import { isOpen, placeOf, type SqliteConnection, SqliteFile } from './file.ts'
import {
  parseSqliteStoreOptions,
  parseSyncSqliteStoreOptions,
  type SqliteStoreOptions,
  type SyncSqliteStoreOptions,
} from './options.ts'
import { failureOf, SqliteTransactions } from './transactions.ts'

/** How many rows and ids are deleted together. */
const FORGOTTEN_AT_ONCE = 100
/** How many synchronous calls there are per housekeeping, which deletes some ended rows and settles expired holds. */
const CALLS_PER_CHORE = 64
const FORGOTTEN_A_CHORE = 8

/** An {@link SqlStore} on an SQLite file. Several processes of one machine may share the file. */
export type SqliteStore = SqlStore

/**
 * Counters in an SQLite file. A process's calls in one event-loop tick are one transaction, as durable as the connection
 * makes it.
 *
 * @throws {QuotaError} `invalid_options` naming every fault; `other_version` for tables of another version; `store_error`
 *   without the tables
 * @example
 * const database = new Database('quota.sqlite')
 * const db = new Kysely({ dialect: new SqliteDialect({ database }) })
 * await migrateQuota(db, { dialect: 'sqlite' })
 * const quota = createQuota({ limits: { perMinute: { by: 'user', limit: 60, per: '1m' } }, store: sqliteStore({ database, db }) })
 */
export function sqliteStore(options: SqliteStoreOptions): SqliteStore {
  const parsed = parseSqliteStoreOptions(options)
  const { database, clock, deadlineMs, prefix } = parsed
  const file = fileOf(parsed)
  const transactions = new SqliteTransactions({ ...parsed, file, ended: (holds) => sweeper.ended.add(holds) })
  const small = <T>(work: () => T): Promise<T> => transactions.small(work)
  const { store, sweeper } = sqlStore({
    name: 'SQLite',
    deadlineMs,
    layouts: file.layouts,
    // With a manual clock no timers are used.
    isTimed: clock === systemClock,
    transact: (operation) => transactions.add(operation),
    inTransaction: (transaction) => performWithin(transaction, { database, file, clock }),
    idle: () => transactions.idle(),
    due: (most) => small(() => file.due(instantOf(clock), most)),
    count: () => small(() => file.countHolds()),
    forget: () => small(() => file.forget(instantOf(clock), FORGOTTEN_AT_ONCE)),
  })
  return {
    ...store,
    clock,
    place: placeOf(database, prefix),
  }
}

/**
 * Synchronous counters in an SQLite file. Each call is its own transaction, and blocks the process. Use it for
 * connections without any other user.
 *
 * @throws {QuotaError} `invalid_options` naming every fault; `other_version` for tables of another version;
 * `store_error` without the tables
 */
export function syncSqliteStore(options: SyncSqliteStoreOptions): SyncStore {
  const parsed = parseSyncSqliteStoreOptions(options)
  const { clock, database, prefix } = parsed
  const file = fileOf(parsed)
  const ended = new Ended()
  let calls = 0
  const done: PerformNow = (work) => {
    let answer = (): ReturnType<typeof work.decide> => {
      throw new TypeError('an operation that was done has an answer')
    }
    const reject = (error: unknown): void => {
      answer = () => {
        throw error
      }
    }
    const operation = operationOf(work, (value) => (answer = () => value), reject)
    try {
      ended.add(file.whole(() => file.step([operation], instantOf(clock))))
    } catch (error) {
      throw failureOf(error)
    }
    operation.done()
    return answer()
  }
  const endDue = (): void => {
    const due = file.due(instantOf(clock), SWEPT_AT_ONCE)
    for (const hold of due) if (done(endWork(hold))) warnOfAside(hold)
    if (due.length > 0) endDue()
  }
  const forget = (): void => {
    try {
      file.forget(instantOf(clock), FORGOTTEN_A_CHORE)
    } catch (error) {
      throw failureOf(error)
    }
  }
  const perform: PerformNow = (work) => {
    if (++calls % CALLS_PER_CHORE === 0) {
      endDue()
      forget()
    }
    return done(work)
  }
  const sweep = () => {
    endDue()
    return { ended: ended.drain(), open: file.countHolds() }
  }
  const open = (schema: StoreSchema) => countersOf(schema, { layouts: file.layouts, perform, sweep })
  return { sync: true, can: CAN, clock, place: placeOf(database, prefix), open }
}

function fileOf({ database, prefix }: { readonly database: SqliteConnection; readonly prefix: string }): SqliteFile {
  const file = new SqliteFile(database, tableNames(prefix))
  try {
    checkFormat(file.format())
  } catch (error) {
    throw failureOf(error)
  }
  return file
}

interface WithinDeps {
  readonly database: SqliteConnection
  readonly file: SqliteFile
  readonly clock: Clock
}

/**
 * Runs work synchronously in the open transaction, behind a savepoint. If it fails, the transaction is as before.
 *
 * @throws {QuotaError} `invalid_options` if no transaction is open on the connection
 */
function performWithin(transaction: unknown, { database, file, clock }: WithinDeps): Perform {
  const isOne = transaction === database || Object(transaction).isTransaction === true
  // Checked if the connection reports it. The charge would not be in a transaction of another connection.
  if (!isOne || isOpen(database) === false) {
    const message =
      "expected an open transaction on the store's own connection: kysely's Transaction, or the connection"
    throw refusedOptions('inTransaction()', [{ path: '', message }])
  }
  return (work) =>
    new Promise((resolve, reject) => {
      const operation = operationOf(work, resolve, reject)
      try {
        file.within(() => file.step([operation], instantOf(clock)))
      } catch (error) {
        operation.fail(notDone(failureOf(error)))
      }
      operation.done()
    })
}
