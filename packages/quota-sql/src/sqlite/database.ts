/**
 * A connection to an SQLite file whose calls answer synchronously: that of better-sqlite3, libsql or `node:sqlite`.
 */
export interface SqliteConnection {
  prepare(text: string): SqliteStatement
  exec(text: string): unknown
  /** Does some work in a transaction of its own, for connections that refuse `begin`: that of a Durable Object. */
  transactionSync?<T>(work: () => T): T
  /** Whether a transaction is open, as better-sqlite3 and libsql call it. */
  readonly inTransaction?: boolean
  /** The same, as `node:sqlite` calls it. */
  readonly isTransaction?: boolean
}

export interface SqliteStatement {
  all(...values: readonly unknown[]): unknown
  run(...values: readonly unknown[]): unknown
}

/** What a Kysely has, as far as the counters need it: one piece of work on its connection at a time. */
export interface TransactionQueue {
  connection(): { execute<T>(work: () => Promise<T>): Promise<T> }
}

/** The file and the prefix of a store. `undefined`: it is in memory, or SQLite may not name it. */
export function placeOf(database: SqliteConnection, prefix: string): string | undefined {
  if (database.transactionSync !== undefined) return undefined
  const rows = database.prepare("select file from pragma_database_list where name = 'main'").all()
  const [{ file }] = rows as [{ readonly file: string }]
  return file === '' ? undefined : `sqlite ${file} ${prefix}`
}

/** Whether an error says that another process is writing. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return code.startsWith('SQLITE_BUSY') || /database is (?:locked|busy)/i.test(error.message)
}

/** Whether a transaction is open; `undefined`: the connection does not report it. */
export function isOpen({ inTransaction, isTransaction }: SqliteConnection): boolean | undefined {
  return inTransaction ?? isTransaction
}
