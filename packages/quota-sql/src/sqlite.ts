/**
 * The synchronous SQLite store without kysely, for connections whose tables exist.
 *
 * @module
 */
export type { SqliteConnection, SqliteStatement } from './sqlite/database.ts'
export type { SyncSqliteStoreOptions } from './sqlite/options.ts'
export { syncSqliteStore } from './sqlite/sqlite-store.ts'
