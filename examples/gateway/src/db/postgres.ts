import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { codesOf, StartError } from '../start/start-error.ts'
import { DatabaseAwayError } from './database-away.ts'
import { migrate } from './migrate.ts'
import type { Db } from './schema.ts'

/** Connections per process. */
const MAX_CONNECTIONS = 10
/** How long a request may wait for a connection, for a lock, and for a statement to end, in milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000
const LOCK_TIMEOUT_MS = 5_000
const STATEMENT_TIMEOUT_MS = 10_000
/** How long it may wait for a response: a server that hangs ends no statement. */
const SILENCE_TIMEOUT_MS = 12_000
/** How long a transaction may be idle, in milliseconds: a process that hangs must not keep its locks. */
const IDLE_IN_TRANSACTION_MS = 10_000

interface PostgresOptions {
  /** How long a statement may go without a response, in milliseconds. @default 12000 */
  readonly silenceTimeoutMs?: number
}

/**
 * Opens a PostgreSQL database. If several processes start together, one migrates and the others wait: the migrating one
 * holds an advisory lock until its transaction ends.
 *
 * @throws {StartError} if the database cannot be reached or used
 */
export async function openPostgres(connectionString: string, options: PostgresOptions = {}): Promise<Db> {
  try {
    await migrateFirst(connectionString)
  } catch (error) {
    throw databaseFault(connectionString, error)
  }
  return connect({
    connectionString,
    max: MAX_CONNECTIONS,
    lock_timeout: LOCK_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: options.silenceTimeoutMs ?? SILENCE_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  })
}

/** SQLSTATE codes of the first connection: the cause, and how to fix it. */
const REFUSALS: Readonly<Record<string, string>> = {
  '28P01': 'the password is refused; correct user and password of the address',
  '28000': 'the user is refused; correct the address, or allow the user',
  '3D000': 'there is no such database; create it, or correct the address',
  '42501': 'the user may not change tables; give it the right, or name another user',
}

/** Describes a database error without credentials. Other errors are returned unchanged. */
function databaseFault(address: string, error: unknown): unknown {
  if (error instanceof StartError) return error
  const { host, pathname } = new URL(address)
  const said = `DATABASE_URL=${host}${pathname}`
  const codes = codesOf(error)
  const refusal = codes.flatMap((code) => REFUSALS[code] ?? [])[0]
  if (refusal !== undefined) return new StartError(said, refusal, error)
  if (!hasCause(error, (each) => each instanceof DatabaseAwayError)) return error
  const why = codes[0] === undefined ? '' : ` (${codes[0]})`
  return new StartError(
    said,
    `no PostgreSQL answers there${why}; start it, or correct host and port of the address`,
    error,
  )
}

function hasCause(error: unknown, is: (error: Error) => boolean): boolean {
  return error instanceof Error && (is(error) || hasCause(error.cause, is))
}

/** Connections used only for counters, so that they wait for nothing else: one counts, one polls. */
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

/** On a separate connection: changing a large table may take longer than a request may wait. */
async function migrateFirst(connectionString: string): Promise<void> {
  const db = connect({ connectionString, max: 1 })
  try {
    await migrate(db, false)
  } finally {
    await db.destroy()
  }
}

function connect(config: pg.PoolConfig): Db {
  const pool = new pg.Pool({
    ...config,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // A lost server sends nothing. Keep-alive notices it on idle connections too.
    keepAlive: true,
    application_name: 'score-gateway',
    types: { getTypeParser },
  })
  return new Kysely({ dialect: new PostgresDialect({ pool: watchedPool(pool) }) })
}

/** Parses 64-bit integers as numbers: instants and counts are far below 2^53. */
const getTypeParser: typeof pg.types.getTypeParser = (id: number, format?: 'text' | 'binary') =>
  id === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(id, format as 'text')

/**
 * SQLSTATE classes that say the server couldn't work, regardless of the statement: 08 (connection), 53 (resources), 57
 * (stopped, starting, or a timeout).
 */
const AWAY = /^(?:08|53|57)/

/**
 * A pool that distinguishes an unreachable database ({@link DatabaseAwayError}) from a wrong statement. Connections
 * that broke or fell silent are not reused.
 */
function watchedPool(pool: pg.Pool): PostgresPool {
  // A connection broke while it was idle. The next request gets another one, or an error.
  pool.on('error', () => undefined)
  // A connection broke while in use, between two statements. The next statement reports it; without this handler the
  // process would end.
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
  })
  return {
    async connect() {
      try {
        return watched(await pool.connect())
      } catch (error) {
        throw away(error)
      }
    },
    end: () => pool.end(),
  }
}

function watched(client: pg.PoolClient): PostgresPoolClient {
  let lost: DatabaseAwayError | undefined
  const query = async (text: string, parameters: readonly unknown[]) => {
    // A rollback would queue behind the statement that was never answered.
    if (lost !== undefined) throw lost
    try {
      return await client.query(text, [...parameters])
    } catch (error) {
      if (isFaultOfStatement(error)) throw error
      const reported = away(error)
      // After an error that isn't fatal, the connection is still usable.
      if (!(error instanceof pg.DatabaseError && error.severity === 'ERROR')) lost = reported
      throw reported
    }
  }
  // The overload with a cursor needs a package that isn't used here.
  return { query: query as unknown as PostgresPoolClient['query'], release: () => client.release(lost) }
}

function isFaultOfStatement(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return !AWAY.test(error.code ?? '')
  // A statement that cannot even be sent.
  return error instanceof TypeError || error instanceof RangeError
}

function away(cause: unknown): DatabaseAwayError {
  return new DatabaseAwayError('the database does not answer', { cause })
}
