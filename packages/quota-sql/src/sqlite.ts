/**
 * The synchronous SQLite store without kysely, and its tables.
 *
 * @module
 */
export { sqliteTables } from './schema/create.ts'
export type { SqliteConnection, SqliteStatement } from './sqlite/database.ts'
export type { SyncSqliteStoreOptions } from './sqlite/options.ts'
export { syncSqliteStore } from './sqlite/sqlite-store.ts'
