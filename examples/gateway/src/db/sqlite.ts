import { join } from 'node:path'
import type { SqliteConnection } from '@scoregw/quota-sql'
import { Kysely } from 'kysely'
import Database from 'libsql'
import { dataDirFault, makeDataDir } from '../config/data-dir.ts'
import { migrate } from './migrations/migrate.ts'
import type { Db } from './schema.ts'
import { ToldSqliteDialect } from './sqlite-dialect.ts'

/** How long a write waits for another process that is writing, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000

const CONNECTIONS = new WeakMap<Db, SqliteConnection>()
const FOLDERS = new WeakMap<Db, string>()

/** The connection of an embedded database; `undefined` for PostgreSQL. */
export function connectionOf(db: Db): SqliteConnection | undefined {
  return CONNECTIONS.get(db)
}

/** Another connection to an embedded database, which never waits for one that writes; whoever asks for it destroys it. */
export function openReader(db: Db): Db {
  const dataDir = FOLDERS.get(db)
  if (dataDir === undefined) throw new TypeError('this is no embedded database')
  const file = new Database(join(dataDir, 'gateway.sqlite'))
  file.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  file.pragma('query_only = ON')
  return new Kysely({ dialect: new ToldSqliteDialect(file) })
}

/**
 * Opens the embedded database of a data folder, making both when they are not there.
 *
 * Every commit reaches the disk before it is acknowledged (`synchronous = FULL`), so that neither a killed process nor a
 * power cut loses what a client was told is stored. With the write-ahead log several processes may use the file.
 *
 * @throws {StartError} when the folder or the file cannot be used
 */
export async function openSqlite(dataDir: string): Promise<Db> {
  makeDataDir(dataDir)
  try {
    return await openFile(dataDir)
  } catch (error) {
    throw dataDirFault(dataDir, error)
  }
}

async function openFile(dataDir: string): Promise<Db> {
  const file = new Database(join(dataDir, 'gateway.sqlite'))
  // The time-out first: switching to the write-ahead log may have to wait for another process too.
  file.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  file.pragma('journal_mode = WAL')
  file.pragma('synchronous = FULL')
  file.pragma('foreign_keys = ON')
  const db: Db = new Kysely({ dialect: new ToldSqliteDialect(file) })
  CONNECTIONS.set(db, file)
  FOLDERS.set(db, dataDir)
  try {
    // The write lock from the start: of processes that start together the first migrates and the others wait.
    file.exec('begin immediate')
    await migrate(db, { isInTransaction: true })
    file.exec('commit')
  } catch (error) {
    // Closing the file rolls back what was begun.
    await db.destroy()
    throw error
  }
  return db
}
