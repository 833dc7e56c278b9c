/**
 * Databases as plain SQL, for tests that start the newest code on data of earlier versions. The data of the library's own
 * stores is in `data`, and tested here.
 *
 * @module
 */
export { dumpPostgres, dumpSqlite, loadPostgres } from './sql-text.ts'
