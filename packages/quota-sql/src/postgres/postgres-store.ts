import { QuotaError } from '@scoregw/quota'
import { type AsyncStore, notDone, Scratch, type StoreAbilities, type StoreSchema } from '@scoregw/quota/store'
import { FORMAT, tableNames } from '../schema/tables.ts'
import type { Footprint } from '../step/asked.ts'
import { type Ask, countersOf, type SqlCounters } from '../step/counters.ts'
import { Deadline } from '../step/deadline.ts'
import { textOf } from '../step/names.ts'
import { operationOf } from '../step/operation.ts'
import { Layouts } from '../step/row-layout.ts'
import { storeError } from '../step/store-error.ts'
import { footprintOf } from '../step/stored.ts'
import { Sweeper } from '../step/sweeper.ts'
import { endWork } from '../step/works.ts'
import { hindranceOf, refusal, verdictOf } from './errors.ts'
import { type ParsedPostgresStoreOptions, type PostgresStoreOptions, parsePostgresStoreOptions } from './options.ts'
import { outliveLostConnections } from './pool.ts'
import { onSession } from './session.ts'
import { type PostgresStatements, postgresStatements } from './statements.ts'
import { Turns } from './turns.ts'
import { askWithin } from './within.ts'

/** Rows and ids that are forgotten at one time. */
const FORGOTTEN_AT_ONCE = 500

/** An {@link AsyncStore} on PostgreSQL, where many processes share the counters. */
export interface PostgresStore extends AsyncStore {
  readonly sync: false
  readonly deadlineMs: number
  /** Counters of a policy. Several may be open at once; where names agree, they are the same counters. */
  open(schema: StoreSchema): SqlCounters
  /** @param transaction kysely's `Transaction`, on the database that has the tables */
  within(schema: StoreSchema, transaction: unknown): SqlCounters
  /**
   * Resolves when the tables are there, in this version's format, and can be written. Calls need not wait for it.
   * @throws {QuotaError} `store_error` when it cannot be reached now, is read-only, or the role has no rights;
   *   `store_mismatch` for tables of another format
   */
  ready(): Promise<void>
  /** Waits for the calls under way, a deadline at most; later ones reject. The pool is left open. */
  close(): Promise<void>
}

/**
 * Counters in PostgreSQL, 14 and later, exact for any number of processes: what a process asks in one turn of the event
 * loop is decided in one transaction, on the server's clock, over all windows at once.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const store = postgresStore({ pool: new Pool({ connectionString, max: 2, pipeline: true }) })
 * const quota = createQuota({ policy: defaultPolicy(), store })
 */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  return new Store(parsePostgresStoreOptions(options))
}

class Store implements PostgresStore {
  readonly sync = false
  readonly can: StoreAbilities = { calendar: true, holds: true, concurrency: 'all', fit: true }
  readonly deadlineMs: number
  readonly #options: ParsedPostgresStoreOptions
  readonly #layouts = new Layouts()
  readonly #statements: PostgresStatements
  readonly #turns: Turns
  readonly #sweeper: Sweeper
  #closing: Promise<void> | undefined

  constructor(options: ParsedPostgresStoreOptions) {
    const { pool, prefix, deadlineMs, testClock } = options
    this.deadlineMs = deadlineMs
    outliveLostConnections(pool)
    this.#options = options
    this.#statements = postgresStatements(tableNames(prefix))
    this.#turns = new Turns({
      pool,
      prefix,
      deadlineMs,
      statements: this.#statements,
      now: testClock && (() => testClock.now()),
      scratch: new Scratch(),
      layouts: this.#layouts,
      ended: (holds) => this.#sweeper.add(holds),
    })
    this.#sweeper = new Sweeper({
      due: (most) => this.#due(most),
      end: (footprint) => this.#ask(endWork(footprint)),
      count: async () => Number((await this.#query('countHolds', []))[0]?.[0]),
      forget: () => this.#forget(),
    })
    // A clock in somebody's hand turns no timers.
    if (testClock === undefined) this.#sweeper.start()
  }

  open(schema: StoreSchema): SqlCounters {
    return countersOf(schema, this.#layouts, this.#ask, () => this.#sweeper.sweep())
  }

  within(schema: StoreSchema, transaction: unknown): SqlCounters {
    const { testClock } = this.#options
    const parts = { scratch: new Scratch(), layouts: this.#layouts, now: testClock && (() => testClock.now()) }
    return countersOf(schema, this.#layouts, askWithin(transaction, this.#statements, parts), () =>
      this.#sweeper.sweep(),
    )
  }

  async ready(): Promise<void> {
    const [row = []] = await this.#query('ready', [])
    const version = Number(row[0])
    const hindrance = hindranceOf(row[1] === true, row[2] === true)
    if (version === FORMAT && hindrance === undefined) return
    if (version === FORMAT) throw hindrance
    const message = `the tables are of format ${version}, and this version needs ${FORMAT}: run its migrations`
    throw new QuotaError('store_mismatch', message)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#sweeper.stop()
    const limit = new Deadline(this.deadlineMs, () => undefined)
    await Promise.race([this.#turns.idle(), limit.settled])
    limit.met()
  }

  readonly #ask: Ask = (work) =>
    new Promise((resolve, reject) => {
      if (this.#closing !== undefined) reject(notDone(storeError('this PostgreSQL store was closed')))
      else this.#turns.ask(operationOf(work, { resolve, reject }))
    })

  async #due(most: number): Promise<readonly Footprint[]> {
    const rows = await this.#query('dueHolds', [this.#now(), most])
    return rows.map(([category, owner, id, record]) => {
      const place = { category: String(category), owner: textOf(String(owner)), id: textOf(String(id)) }
      return footprintOf(place, String(record))
    })
  }

  async #forget(): Promise<void> {
    await this.#query('forgetRows', [this.#now(), FORGOTTEN_AT_ONCE])
    await this.#query('forgetIds', [this.#now(), FORGOTTEN_AT_ONCE])
    await this.#query('forgetFences', [this.#now(), FORGOTTEN_AT_ONCE])
  }

  #now(): number | null {
    return this.#options.testClock?.now() ?? null
  }

  /** One statement by itself, within the deadline. */
  async #query(statement: keyof PostgresStatements, values: unknown[]): Promise<readonly (readonly unknown[])[]> {
    const limit = new Deadline(this.deadlineMs, () => undefined)
    const answered = onSession({ ...this.#options, statements: this.#statements }, async (session) => {
      const rows = limit.isOver ? undefined : await Promise.race([session.run(statement, values), limit.settled])
      // The connection is not used again.
      if (rows === undefined) throw storeError('no answer came in time')
      return rows
    })
    answered.catch(() => undefined)
    try {
      const rows = await Promise.race([answered, limit.settled])
      if (rows !== undefined) return rows
    } catch (error) {
      throw verdictOf(error) === 'again' ? storeError('PostgreSQL cannot be asked now', error) : refusal(error)
    } finally {
      limit.met()
    }
    throw storeError(`PostgreSQL gave no answer within ${this.deadlineMs} ms`)
  }
}
