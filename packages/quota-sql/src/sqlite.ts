/**
 * The synchronous SQLite store without kysely, and its tables.
 *
 * @module
 */
export { sqliteTables } from './schema/tables.ts'
export type { SqliteConnection, SqliteStatement } from './sqlite/file.ts'
export type { SyncSqliteStoreOptions } from './sqlite/options.ts'
export { syncSqliteStore } from './sqlite/sqlite-store.ts'
