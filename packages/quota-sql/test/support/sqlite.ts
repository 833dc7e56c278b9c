import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely'
import Database from 'libsql'
import type { SqliteConnection } from '../../src/index.ts'

/** A connection to a file, as the guide has it; not durable, since nothing of the tests outlives them. */
export function connectTo(path: string, journal: 'WAL' | 'DELETE' = 'WAL'): Database.Database {
  const database = new Database(path)
  database.pragma('busy_timeout = 5000')
  database.pragma(`journal_mode = ${journal}`)
  database.pragma('synchronous = OFF')
  return database
}

/** As Node 22 and later have it without a package. */
interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => SqliteConnection
}

/** Node's own SQLite; `undefined` where it has none. */
const nodeSqlite = process.getBuiltinModule?.('node:sqlite' as 'fs') as unknown as NodeSqlite | undefined

export const hasNodeSqlite: boolean = nodeSqlite !== undefined

/** The same by Node's own SQLite. */
export function connectByNode(path: string): SqliteConnection {
  if (nodeSqlite === undefined) throw new Error('this Node has no SQLite')
  const database = new nodeSqlite.DatabaseSync(path)
  database.exec('pragma busy_timeout = 5000; pragma journal_mode = WAL; pragma synchronous = OFF')
  return database
}

export function kyselyOn(database: Database.Database): Kysely<unknown> {
  return new Kysely({ dialect: new SqliteDialect({ database: database as unknown as SqliteDatabase }) })
}
