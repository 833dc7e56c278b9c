import timers from 'node:timers/promises'
import { QuotaError } from '@scoregw/quota'
import { Deadline, Scratch } from '@scoregw/quota/store'
import { tableNames } from '../schema/tables.ts'
import { SchemaRows } from '../step/requested.ts'
import { type SqlStore, sqlStore } from '../step/sql-store.ts'
import { storeError } from '../step/store-error.ts'
import { Layouts, type RowLayout } from '../step/stored.ts'
import { NO_RIGHTS, noAnswer, noAnswersNow, READ_ONLY, refusal, verdictOf } from './errors.ts'
import { type PostgresStoreOptions, parsePostgresStoreOptions } from './options.ts'
import { outliveLostConnections, placeOf } from './pool.ts'
import { FirstConnection, onSession, Pooling, type Row, Session, type SessionDeps, TableFormat } from './session.ts'
import { postgresStatements, type Statement } from './statements.ts'
import { storedHold, storeLayouts } from './transaction.ts'
import { Transactions } from './transactions.ts'
import { performWithin } from './within.ts'

// As it is now: a test may replace it later, and a server goes on.
const { setImmediate: nextTick } = timers

/** How many rows and ids are deleted together. */
const FORGOTTEN_AT_ONCE = 500

/** An {@link SqlStore} on PostgreSQL, where many processes share the counters. */
export interface PostgresStore extends SqlStore {
  /**
   * Resolves when the tables exist in this version's format and can be written. Await it at startup; otherwise the
   * first calls wait for the connection.
   *
   * @throws {QuotaError} `store_error` if the server cannot be reached, is read-only, or the role lacks rights;
   * `other_version` for tables of another version
   */
  ready(): Promise<void>
}

/**
 * Counters in PostgreSQL 14 and later, exact for any number of processes. A process's calls in one event-loop tick are
 * decided in one transaction, on the server's clock, over all windows together.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const store = postgresStore({ pool: new Pool({ connectionString, max: 2, pipeline: true }) })
 * await store.ready() // a wrong address throws here, not in a request
 * const quota = createQuota({ limits: { perMinute: { by: 'user', limit: 60, per: '1m' } }, store })
 */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  const { pool, prefix, schema, deadlineMs, connectTimeoutMs, testClock } = parsePostgresStoreOptions(options)
  outliveLostConnections(pool)
  const tables = tableNames(prefix, schema)
  const deps = { pool, pooling: new Pooling(), tables, deadlineMs, statements: postgresStatements(tables) }
  const { statements } = deps
  const format = new TableFormat()
  const decisions = { layouts: new Layouts(), now: testClock && (() => testClock.now()) }
  const opened = new Set<RowLayout>()
  const first = new FirstConnection(
    (over) => prepare(deps, { format, opened, layouts: decisions.layouts }, over),
    connectTimeoutMs,
  )
  const transactions = new Transactions({
    ...deps,
    ...decisions,
    first,
    scratch: new Scratch(),
    ended: (holds) => sweeper.ended.add(holds),
  })
  const query = async (statement: Statement, ...values: unknown[]) => {
    const { opening } = first
    if (opening !== undefined) {
      await opening
      // Calls that wait as well are sent in the next transaction, on their own connection.
      await nextTick()
      await nextTick()
    }
    if (first.otherVersion !== undefined) throw first.otherVersion
    return answered({ ...deps, first }, statement, values)
  }
  const now = (): number | null => testClock?.now() ?? null
  const { store, sweeper } = sqlStore({
    name: 'PostgreSQL',
    deadlineMs,
    layouts: decisions.layouts,
    // With a manual clock no timers are used.
    isTimed: testClock === undefined,
    transact: (operation) => transactions.add(operation),
    inTransaction: (transaction) =>
      performWithin(transaction, { ...deps, ...decisions, format, scratch: new Scratch() }),
    due: async (most) => (await query(statements.dueHolds, now(), most)).map(storedHold),
    count: async () => Number((await query(statements.countHolds))[0]?.[0]),
    async forget() {
      for (const what of [statements.forgetRows, statements.forgetIds]) await query(what, now(), FORGOTTEN_AT_ONCE)
    },
    async idle() {
      const limit = new Deadline(deadlineMs)
      await Promise.race([transactions.idle(), limit.settled])
      limit.met()
    },
  })
  return {
    ...store,
    open(schema) {
      for (const layout of new SchemaRows(schema, decisions.layouts).layouts) opened.add(layout)
      first.prepareMore()
      return store.open(schema)
    },
    place: placeOf(pool, tables.rows),
    get opening() {
      return first.opening
    },
    async ready() {
      const [[version, isReadOnly, mayWrite] = []] = await query(statements.ready)
      format.found(version)
      if (isReadOnly === true || mayWrite !== true) throw storeError(isReadOnly === true ? READ_ONLY : NO_RIGHTS)
    },
  }
}

interface Preparation {
  readonly format: TableFormat
  /** The layouts of opened counters' rows. */
  readonly opened: ReadonlySet<RowLayout>
  readonly layouts: Layouts
}

/** Connects, checks the tables' version, and stores layouts: storing them in the first call would cost it two round trips. */
function prepare(deps: SessionDeps, { format, opened, layouts }: Preparation, over: Promise<void>): Promise<void> {
  // The counters use two connections, so that sweeps and calls don't wait for each other.
  void Session.open(deps).then(
    (session) => session.release(false),
    () => undefined,
  )
  return onSession(deps, async (session) => {
    const fresh = [...opened].filter((layout) => !layouts.isKept(layout))
    const prepared = async (): Promise<true> => {
      // Both check the version. Storing layouts does it without another round trip.
      if (fresh.length > 0) await storeLayouts(session, fresh, layouts)
      else if (!format.isKnown) await format.check(session)
      return true
    }
    const isPrepared = prepared()
    // The connection is not used again.
    if ((await Promise.race([isPrepared, over])) !== true) throw noAnswer(deps.deadlineMs, undefined)
    for (const layout of fresh) layouts.keep(layout)
  })
}

/** One statement by itself, within the deadline. */
async function answered(
  { first, ...deps }: SessionDeps & { readonly first: FirstConnection },
  statement: Statement,
  values: unknown[],
): Promise<readonly Row[]> {
  const limit = new Deadline(deps.deadlineMs)
  const answer = onSession(deps, async (session) => {
    const rows = limit.isOver ? undefined : await Promise.race([session.run(statement, values), limit.settled])
    // The connection is not used again.
    if (rows === undefined) throw noAnswer(deps.deadlineMs, first.error)
    return rows
  })
  answer.catch(() => undefined)
  try {
    const rows = await Promise.race([answer, limit.settled])
    if (rows !== undefined) return rows
  } catch (error) {
    const isAway = verdictOf(error) === 'again' && !(error instanceof QuotaError)
    throw isAway ? noAnswersNow(error) : refusal(error)
  } finally {
    limit.met()
  }
  throw noAnswer(deps.deadlineMs, first.error)
}
