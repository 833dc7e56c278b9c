import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely'
import Database from 'libsql'

/** A connection to a file, as the guide has it; not durable, since nothing of the tests outlives them. */
export function connectTo(path: string): Database.Database {
  const database = new Database(path)
  database.pragma('busy_timeout = 5000')
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = OFF')
  return database
}

export function kyselyOn(database: Database.Database): Kysely<unknown> {
  return new Kysely({ dialect: new SqliteDialect({ database: database as unknown as SqliteDatabase }) })
}
