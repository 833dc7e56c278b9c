import { type Checks, having, optional, wholeNumber, withDefault } from '@scoregw/quota/options'
import type { QueryExecutorProvider } from 'kysely'
import { dialectOf } from '../schema/dialect.ts'
import { prefixCheck } from '../schema/options.ts'
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

/** Checks of the options that all of them have. */
export function databaseChecks(): Checks<{ readonly db: QueryExecutorProvider; readonly prefix: string }> {
  return { db: having<QueryExecutorProvider>(['getExecutor'], 'a Kysely'), prefix: withDefault(prefixCheck(), 'quota') }
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

/** The fault of a `db` option. */
export function databaseFaults({ db }: { readonly db: QueryExecutorProvider }): { path: string; message: string }[] {
  if (dialectOf(db) !== undefined) return []
  return [{ path: 'db', message: 'expected a Kysely on PostgreSQL or SQLite' }]
}
