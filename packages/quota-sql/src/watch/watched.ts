import { type Checks, having, wholeNumber, withDefault } from '@scoregw/quota/internal'
import type { QueryExecutorProvider } from 'kysely'
import { dialectOf } from '../schema/kysely.ts'
import { prefixCheck, schemaCheck, schemaFaults } from '../schema/options.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setInterval, clearInterval } = globalThis

/** The dependencies of a {@link Watched}. */
export interface WatchedDeps {
  /** How often to poll for changes while there is a watcher, in milliseconds. */
  readonly pollMs: number
  /** Reads whether there are changes, and reports them. */
  readonly poll: () => Promise<void>
}

/** The watchers of changes, and the polls for them while there is a watcher. */
export class Watched<Change> {
  readonly #deps: WatchedDeps
  readonly #listeners = new Set<(change: Change) => void>()
  #timer: NodeJS.Timeout | undefined
  #polling: Promise<void> | undefined

  constructor(deps: WatchedDeps) {
    this.#deps = deps
  }

  watch(listener: (change: Change) => void): () => void {
    // A new function, so that one listener can watch twice.
    const entry = (change: Change): void => listener(change)
    this.#listeners.add(entry)
    this.#timer ??= setInterval(() => void this.poll().catch(ignored), this.#deps.pollMs).unref()
    return () => {
      this.#listeners.delete(entry)
      if (this.#listeners.size === 0) this.#rest()
    }
  }

  notify(change: Change): void {
    for (const listener of [...this.#listeners]) listener(change)
  }

  /** Polls now; calls at the same time share one poll. */
  poll(): Promise<void> {
    this.#polling ??= this.#deps.poll().finally(() => {
      this.#polling = undefined
    })
    return this.#polling
  }

  /** Ends all notifications. Resolves when nothing is in flight. */
  async close(): Promise<void> {
    this.#listeners.clear()
    this.#rest()
    await this.#polling?.catch(ignored)
  }

  #rest(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

function ignored(): void {
  // The next poll reports the error.
}

// Options -------------------------------------------------------------------------------------------------------------

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
