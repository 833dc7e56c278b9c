import { errorText } from '@scoregw/quota/internal'

/**
 * A connection to an SQLite file whose calls answer synchronously, such as one of better-sqlite3, libsql or
 * `node:sqlite`.
 */
export interface SqliteConnection {
  prepare(text: string): SqliteStatement
  exec(text: string): unknown
  /** Runs work in its own transaction, for connections that reject `begin`, such as a Durable Object's. */
  transactionSync?<T>(work: () => T): T
  /** Whether a transaction is open, as better-sqlite3 and libsql report it. */
  readonly inTransaction?: boolean
  /** The same, as `node:sqlite` reports it. */
  readonly isTransaction?: boolean
}

export interface SqliteStatement {
  all(...values: readonly unknown[]): unknown
  run(...values: readonly unknown[]): unknown
}

/** The part of a Kysely that the counters need. It gives the connection to one user at a time. */
export interface TransactionQueue {
  connection(): { execute<T>(work: () => Promise<T>): Promise<T> }
}

/** The file and the prefix of a store; `undefined` for a store in memory, or if SQLite doesn't report the file. */
export function placeOf(database: SqliteConnection, prefix: string): string | undefined {
  if (database.transactionSync !== undefined) return undefined
  const rows = database.prepare("select file from pragma_database_list where name = 'main'").all()
  const [{ file }] = rows as [{ readonly file: string }]
  return file === '' ? undefined : `sqlite ${file} ${prefix}`
}

/** Whether an error says that another process is writing. */
export function isBusy(error: unknown): boolean {
  const { code = '' } = Object(error) as { readonly code?: unknown }
  return String(code).startsWith('SQLITE_BUSY') || /database is (?:locked|busy)/i.test(errorText(error))
}

/** Whether a transaction is open; `undefined` if the connection does not report it. */
export function isOpen({ inTransaction, isTransaction }: SqliteConnection): boolean | undefined {
  return inTransaction ?? isTransaction
}
