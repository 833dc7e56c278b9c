import type { FactorState, FactorStore, VersionedFactor } from '@scoregw/quota/adaptive'
import { optionsParser } from '@scoregw/quota/internal'
import { type QueryExecutorProvider, sql } from 'kysely'
import { withoutPlugins } from '../schema/kysely.ts'
import { tableNames } from '../schema/tables.ts'
import { storeError } from '../step/store-error.ts'
import { databaseFaults, type ParsedWatchOptions, Watched, type WatchOptions, watchChecks } from '../watch/watched.ts'

/** The options of {@link sqlFactor}. */
export interface SqlFactorOptions extends WatchOptions {
  /** A Kysely of either dialect, for the database with the tables. */
  readonly db: QueryExecutorProvider
}

type ParsedOptions = SqlFactorOptions & ParsedWatchOptions

const parseOptions: (options: unknown) => ParsedOptions = /* @__PURE__ */ optionsParser('sqlFactor()', watchChecks, {
  between: databaseFaults,
})

/** A {@link FactorStore} in a database: one factor for all processes that use the same tables. */
export interface SqlFactor extends FactorStore {
  /** @throws {QuotaError} `store_error` if the state is not JSON; otherwise the database's error */
  read(): Promise<VersionedFactor | undefined>
  compareAndSet(expectedVersion: number, minute: number, state: FactorState): Promise<boolean>
  /** Reads whether another process moved the factor, and notifies watchers if so. */
  poll(): Promise<void>
  /** Stops notifying watchers. */
  close(): Promise<void>
}

/**
 * The adaptive factor in the database that has the counters. Every process reports a move within a second. Calls reject
 * with the database's error while it does not answer. A write that rejects may have happened, and never happens twice.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function sqlFactor(options: SqlFactorOptions): SqlFactor {
  return new Store(parseOptions(options))
}

interface Row {
  /** A bigint where better-sqlite3 or libsql read all integers so (`defaultSafeIntegers`). */
  readonly version: number | bigint
  readonly minute: number | bigint
  readonly state: string
}

class Store implements SqlFactor {
  readonly #db: QueryExecutorProvider
  readonly #table: string
  readonly #watched: Watched<void>
  /** The last move that listeners were notified of; `''` for none. */
  #reported = ''

  constructor({ db, prefix, schema, pollMs }: ParsedOptions) {
    this.#db = withoutPlugins(db)
    this.#table = tableNames(prefix, schema).factor
    this.#watched = new Watched({ pollMs, poll: () => this.#poll() })
  }

  async read(): Promise<VersionedFactor | undefined> {
    const { rows } = await sql<Row>`select version, minute, state from ${sql.table(this.#table)}
      where id = 1`.execute(this.#db)
    const [row] = rows
    return row && { version: Number(row.version), minute: Number(row.minute), state: parsed(row.state) }
  }

  async compareAndSet(expectedVersion: number, minute: number, state: FactorState): Promise<boolean> {
    const text = JSON.stringify(state)
    const table = sql.table(this.#table)
    // A single statement: if two processes tick the same minute, one of them finds another version.
    const write =
      expectedVersion === 0
        ? sql`insert into ${table} (id, version, minute, state) values (1, 1, ${minute}, ${text})
            on conflict (id) do nothing returning version`
        : sql`update ${table} set version = ${expectedVersion + 1}, minute = ${minute}, state = ${text}
            where id = 1 and version = ${expectedVersion} and minute <> ${minute} returning version`
    const { rows } = await write.execute(this.#db)
    if (rows.length > 0) this.#report(nameOf({ version: expectedVersion + 1, minute }))
    return rows.length > 0
  }

  watch(listener: () => void): () => void {
    return this.#watched.watch(listener)
  }

  poll(): Promise<void> {
    return this.#watched.poll()
  }

  close(): Promise<void> {
    return this.#watched.close()
  }

  async #poll(): Promise<void> {
    const { rows } = await sql<Row>`select version, minute from ${sql.table(this.#table)} where id = 1`.execute(
      this.#db,
    )
    const found = rows[0] === undefined ? '' : nameOf(rows[0])
    if (found !== this.#reported) this.#report(found)
  }

  #report(move: string): void {
    this.#reported = move
    this.#watched.notify()
  }
}

/** A restored database repeats versions, but not in the same minute. */
function nameOf({ version, minute }: Pick<Row, 'version' | 'minute'>): string {
  return `${version} ${minute}`
}

function parsed(text: string): FactorState {
  try {
    return JSON.parse(text) as FactorState
  } catch (error) {
    throw storeError('the stored adaptive factor is not JSON', error)
  }
}
