import { type Checks, having, wholeNumber, withDefault } from '@scoregw/quota/internal'
import type { QueryExecutorProvider } from 'kysely'
import { dialectOf } from '../schema/dialect.ts'
import { prefixCheck, schemaCheck, schemaFaults } from '../schema/options.ts'

/** The longest polling interval, in milliseconds: changes are to be seen within a second. */
const MAX_POLL_MS = 1_000

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
   * How often to poll for other processes' changes while there is a watcher, in milliseconds, 10 to 1,000.
   *
   * @default 250
   */
  readonly pollMs?: number | undefined
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
    pollMs: withDefault(wholeNumber(10, MAX_POLL_MS, 'milliseconds'), 250),
  }
}

/** The faults of a `db` option, and of a schema that it can't have. */
export function databaseFaults(options: DatabaseOptions): { path: string; message: string }[] {
  const dialect = dialectOf(options.db)
  if (dialect !== undefined) return schemaFaults(dialect, options)
  return [{ path: 'db', message: 'expected a Kysely on PostgreSQL or SQLite' }]
}
