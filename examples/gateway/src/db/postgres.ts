import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { migrate } from './migrations/migrate.ts'
import type { Db } from './schema.ts'

/** Connections of one process. */
const MAX_CONNECTIONS = 10
/** How long a request may wait, in milliseconds, for a connection; for a lock; for a statement to end. */
const CONNECT_TIMEOUT_MS = 5_000
const LOCK_TIMEOUT_MS = 5_000
const STATEMENT_TIMEOUT_MS = 10_000
/** How long, in milliseconds, a transaction may do nothing: a process that hangs must not hold its locks for ever. */
const IDLE_IN_TRANSACTION_MS = 10_000

/**
 * Opens a PostgreSQL database. Of processes that start together one migrates and the others wait for it: the migrator
 * holds an advisory lock for the length of its transaction.
 */
export async function openPostgres(connectionString: string): Promise<Db> {
  const pool = new pg.Pool({
    connectionString,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    application_name: 'score-gateway',
    types: { getTypeParser },
  })
  // A connection that breaks while nobody uses it: the next request gets another one, and an error if there is none.
  pool.on('error', () => undefined)
  const db: Db = new Kysely({ dialect: new PostgresDialect({ pool }) })
  try {
    await migrate(db, { isInTransaction: false })
  } catch (error) {
    await db.destroy()
    throw error
  }
  return db
}

/** 64-bit integers as numbers: instants and counts are far below 2^53. */
const getTypeParser: typeof pg.types.getTypeParser = (id: number, format?: 'text' | 'binary') =>
  id === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(id, format as 'text')
