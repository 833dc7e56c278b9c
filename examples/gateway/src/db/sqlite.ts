import { join } from 'node:path'
import type { SqliteConnection } from '@scoregw/quota-sql'
import { Kysely } from 'kysely'
import Database from 'libsql'
import { dataDirFault, makeDataDir, ownFile } from '../start/data-dir.ts'
import { migrate } from './migrate.ts'
import type { Db } from './schema.ts'
import { GatewaySqliteDialect, Patience } from './sqlite-dialect.ts'

const CONNECTIONS = new WeakMap<Db, SqliteConnection>()
const READERS = new WeakMap<Db, Db>()

/** The connection of an embedded database; `undefined` for PostgreSQL. */
export function connectionOf(db: Db): SqliteConnection | undefined {
  return CONNECTIONS.get(db)
}

/**
 * A connection for reads that don't wait for writes. An embedded database gets a second, read-only connection, which
 * sees committed data. PostgreSQL has several connections anyway, so the database itself is returned. It is closed with
 * the database.
 */
export function readerOf(db: Db): Db {
  return READERS.get(db) ?? db
}

/**
 * Opens the embedded database of a data folder, and creates both if they don't exist.
 * Every commit reaches the disk before it is acknowledged (`synchronous = FULL`): neither a killed process nor a power
 * cut loses acknowledged data. The write-ahead log lets several processes use the file.
 *
 * @throws {StartError} if the folder or the file cannot be used
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
  const path = ownFile(join(dataDir, 'gateway.sqlite'))
  const file = new Database(path)
  const patience = new Patience()
  await patience.run(() => file.exec('pragma journal_mode = WAL'))
  file.pragma('synchronous = FULL')
  file.pragma('foreign_keys = ON')
  let reader: Reader | undefined
  const db: Db = new Kysely({ dialect: new GatewaySqliteDialect(file, () => reader?.close()) })
  CONNECTIONS.set(db, file)
  try {
    // Take the write lock first: if several processes start together, one migrates and the others wait.
    await patience.run(() => file.exec('begin immediate'))
    await migrate(db, true)
    file.exec('commit')
    reader = openReader(path)
    READERS.set(db, reader.db)
  } catch (error) {
    // Closing the file rolls back what was begun.
    await db.destroy()
    throw error
  }
  return db
}

interface Reader {
  readonly db: Db
  close(): void
}

function openReader(path: string): Reader {
  const file = new Database(path)
  file.pragma('query_only = ON')
  return { db: new Kysely({ dialect: new GatewaySqliteDialect(file) }), close: () => void file.close() }
}
