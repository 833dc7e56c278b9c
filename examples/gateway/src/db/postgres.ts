import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { migrate } from './migrations/migrate.ts'
import type { Db } from './schema.ts'
import { watchedPool } from './watched-pool.ts'

/** Connections of one process. */
const MAX_CONNECTIONS = 10
/** How long a request may wait, in milliseconds, for a connection; for a lock; for a statement to end. */
const CONNECT_TIMEOUT_MS = 5_000
const LOCK_TIMEOUT_MS = 5_000
const STATEMENT_TIMEOUT_MS = 10_000
/** How long it may wait for an answer: a server that hangs ends no statement. */
const SILENCE_TIMEOUT_MS = 12_000
/** How long, in milliseconds, a transaction may do nothing: a process that hangs must not hold its locks for ever. */
const IDLE_IN_TRANSACTION_MS = 10_000

export interface PostgresOptions {
  /** How long a statement may go without an answer, in milliseconds. @default 12000 */
  readonly silenceTimeoutMs?: number
}

/**
 * Opens a PostgreSQL database. Of processes that start together one migrates and the others wait for it: the migrator
 * holds an advisory lock for the length of its transaction.
 */
export async function openPostgres(connectionString: string, options: PostgresOptions = {}): Promise<Db> {
  await migrateFirst(connectionString)
  return connect({
    connectionString,
    max: MAX_CONNECTIONS,
    lock_timeout: LOCK_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: options.silenceTimeoutMs ?? SILENCE_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  })
}

/** Connections for counters alone, which wait for nothing else: one to count, one to look. */
export function countersPool(connectionString: string): pg.Pool {
  const config = {
    connectionString,
    max: 2,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'score-gateway counters',
    pipeline: true,
  }
  const pool = new pg.Pool(config)
  pool.on('error', () => undefined)
  return pool
}

/** Over which a process hears what others changed. */
export function changesPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max: 1,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'score-gateway changes',
  })
  pool.on('error', () => undefined)
  return pool
}

/** Over a connection of its own: a large table may take longer to change than any request may wait. */
async function migrateFirst(connectionString: string): Promise<void> {
  const db = connect({ connectionString, max: 1 })
  try {
    await migrate(db, { isInTransaction: false })
  } finally {
    await db.destroy()
  }
}

function connect(config: pg.PoolConfig): Db {
  const pool = new pg.Pool({
    ...config,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // A server whose machine is lost says nothing: an idle connection to it is to be noticed.
    keepAlive: true,
    application_name: 'score-gateway',
    types: { getTypeParser },
  })
  return new Kysely({ dialect: new PostgresDialect({ pool: watchedPool(pool) }) })
}

/** 64-bit integers as numbers: instants and counts are far below 2^53. */
const getTypeParser: typeof pg.types.getTypeParser = (id: number, format?: 'text' | 'binary') =>
  id === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(id, format as 'text')
