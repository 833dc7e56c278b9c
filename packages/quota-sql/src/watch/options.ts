import { type Checks, having, optional, wholeNumber, withDefault } from '@scoregw/quota/internal'
import type { QueryExecutorProvider } from 'kysely'
import { dialectOf } from '../schema/dialect.ts'
import { prefixCheck, schemaCheck, schemaFaults } from '../schema/options.ts'
import type { ListenPool } from './listener.ts'

/** The longest polling interval without notifications, in milliseconds: changes are to be seen within a second. */
const MAX_POLL_MS = 1_000
const MAX_POLL_BESIDE_LISTENING_MS = 60_000

/** Options of stores that are notified of other processes' changes. */
export interface WatchOptions {
  /**
   * The beginning of every table's name. Use the same as for the migrations and the counters.
   *
   * @default 'quota'
   */
  readonly prefix?: string | undefined
  /**
   * PostgreSQL only: the schema that has the tables, as in the migrations.
   *
   * @default the first one of the connection's `search_path`
   */
  readonly schema?: string | undefined
  /**
   * How often to poll for other processes' changes while there is a watcher, in milliseconds, 10 to 1,000; with
   * {@link listen} to 60,000.
   *
   * @default 250
   */
  readonly pollMs?: number | undefined
  /**
   * PostgreSQL only: a `Pool` of pg. While there is a watcher, the store listens (`LISTEN`) on one of its connections,
   * so changes arrive immediately. `pollMs` then bounds the delay if a message is lost. Stores with the same pool share
   * the connection. A pooler in transaction mode doesn't work.
   *
   * @default changes are only polled
   */
  readonly listen?: ListenPool | undefined
}

/** {@link WatchOptions} after their check, defaults filled in. */
export type ParsedWatchOptions = WatchOptions & { readonly prefix: string; readonly pollMs: number }

/** The options that all of them have, after their check. */
export interface DatabaseOptions {
  readonly db: QueryExecutorProvider
  readonly prefix: string
  readonly schema?: string | undefined
}

/** Checks of the options that all of them have. */
export function databaseChecks(): Checks<DatabaseOptions> {
  return {
    db: having<QueryExecutorProvider>(['getExecutor'], 'a Kysely'),
    prefix: withDefault(prefixCheck(), 'quota'),
    schema: schemaCheck(),
  }
}

export function watchChecks(): Checks<ParsedWatchOptions & { readonly db: QueryExecutorProvider }> {
  return {
    ...databaseChecks(),
    pollMs: withDefault(wholeNumber(10, MAX_POLL_BESIDE_LISTENING_MS, 'milliseconds'), 250),
    listen: optional(having<ListenPool>(['connect'], 'a pool of connections, new Pool(...) of pg')),
  }
}

/** The faults of combined options that are valid separately. */
export function watchFaults(
  options: ParsedWatchOptions & { readonly db: QueryExecutorProvider },
): { readonly path: string; readonly message: string }[] {
  const { db, pollMs, listen } = options
  const faults = databaseFaults(options)
  if (listen !== undefined && dialectOf(db) === 'sqlite') {
    faults.push({ path: 'listen', message: 'only PostgreSQL sends notifications: omit it on SQLite' })
  }
  if (listen === undefined && pollMs > MAX_POLL_MS) {
    const message = `expected at most ${MAX_POLL_MS} milliseconds without notifications: pass "listen", or poll more often`
    faults.push({ path: 'pollMs', message })
  }
  return faults
}

/** The faults of a `db` option, and of a schema that it can't have. */
export function databaseFaults(options: DatabaseOptions): { path: string; message: string }[] {
  const dialect = dialectOf(options.db)
  if (dialect !== undefined) return schemaFaults(dialect, options)
  return [{ path: 'db', message: 'expected a Kysely on PostgreSQL or SQLite' }]
}
