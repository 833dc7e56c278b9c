import {
  type MinuteOutcomes,
  OUTCOME_COLUMNS,
  OUTCOMES_KEPT_MINUTES,
  type OutcomeColumn,
  type OutcomeStore,
} from '@scoregw/quota/adaptive'
import { optionsParser } from '@scoregw/quota/internal'
import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'
import { withoutPlugins } from '../schema/kysely.ts'
import { tableNames } from '../schema/tables.ts'
import { type DatabaseOptions, databaseChecks, databaseFaults } from '../watch/watched.ts'

/** The options of {@link sqlOutcomes}. */
export interface SqlOutcomesOptions {
  /** A Kysely of either dialect, for the database with the tables. */
  readonly db: QueryExecutorProvider
  /**
   * The beginning of every table's name. Use the same as for the migrations.
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
}

/** An {@link OutcomeStore} in a database: counts of all processes that use the same tables. */
export interface SqlOutcomes extends OutcomeStore {
  add(counts: readonly MinuteOutcomes[]): Promise<void>
  read(fromMinute: number, toMinute: number): Promise<MinuteOutcomes[]>
}

/** How many minutes one statement adds. SQLite accepts at most 32,766 values. */
const ADDED_AT_ONCE = 500
/** How often a process deletes rows older than any reader needs, in minutes of its additions. */
const FORGET_EVERY_MINUTES = 60

const parseOptions: (options: unknown) => DatabaseOptions = /* @__PURE__ */ optionsParser(
  'sqlOutcomes()',
  databaseChecks,
  {
    between: databaseFaults,
  },
)

/**
 * Counts of outcomes in a database, one row per minute. The process that adds also deletes rows older than any reader
 * needs. Calls reject with the database's error while it does not answer.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function sqlOutcomes(options: SqlOutcomesOptions): SqlOutcomes {
  const { db, prefix, schema } = parseOptions(options)
  return new Store(withoutPlugins(db), tableNames(prefix, schema).outcomes)
}

class Store implements SqlOutcomes {
  readonly #db: QueryExecutorProvider
  readonly #table: string
  /** The newest minute at the last deletion. */
  #forgotAt = Number.NEGATIVE_INFINITY

  constructor(db: QueryExecutorProvider, table: string) {
    this.#db = db
    this.#table = table
  }

  async add(counts: readonly MinuteOutcomes[]): Promise<void> {
    const minutes = byMinute(counts)
    for (let at = 0; at < minutes.length; at += ADDED_AT_ONCE) await this.#add(minutes.slice(at, at + ADDED_AT_ONCE))
    const newest = minutes.at(-1)?.minute
    if (newest === undefined || newest < this.#forgotAt + FORGET_EVERY_MINUTES) return
    this.#forgotAt = newest
    // The counts are added. A failed deletion is repeated in an hour.
    await this.#forgetBefore(newest - OUTCOMES_KEPT_MINUTES).catch(() => undefined)
  }

  async read(fromMinute: number, toMinute: number): Promise<MinuteOutcomes[]> {
    const { rows } = await sql<StoredMinute>`select minute, ${NAMES} from ${sql.table(this.#table)}
      where minute >= ${fromMinute} and minute < ${toMinute} order by minute`.execute(this.#db)
    return rows.map(fromRow)
  }

  async #add(minutes: readonly MinuteOutcomes[]): Promise<void> {
    const table = sql.table(this.#table)
    const rows = minutes.map((each) => {
      const values = [each.minute, ...COLUMNS.map(([, column]) => each[column])]
      return sql`(${sql.join(values)})`
    })
    const sums = COLUMNS.map(([name]) => {
      const column = sql.ref(name)
      return sql`${column} = ${table}.${column} + excluded.${column}`
    })
    await sql`insert into ${table} (minute, ${NAMES}) values ${sql.join(rows)}
      on conflict (minute) do update set ${sql.join(sums)}`.execute(this.#db)
  }

  async #forgetBefore(minute: number): Promise<void> {
    await sql`delete from ${sql.table(this.#table)} where minute < ${minute}`.execute(this.#db)
  }
}

/** The columns with counts. */
const COLUMNS = [
  ['calls', 'calls'],
  ['code_zero', 'codeZero'],
  ['client_error', 'clientError'],
  ['server_error', 'serverError'],
  ['business_fail', 'businessFail'],
  ['refused', 'refused'],
  ['quota_unavailable', 'quotaUnavailable'],
] as const

const NAMES: RawBuilder<unknown> = /* @__PURE__ */ sql.join(COLUMNS.map(([name]) => sql.ref(name)))

/** A row as drivers return it. Some return 64-bit integers as text. */
type StoredMinute = Readonly<Record<'minute' | (typeof COLUMNS)[number][0], number | string>>

/**
 * One entry per minute, in order. A statement must not change a row twice, and processes that change the same rows in
 * different orders would deadlock.
 */
function byMinute(counts: readonly MinuteOutcomes[]): readonly MinuteOutcomes[] {
  const sums = new Map<number, MinuteOutcomes>()
  for (const each of counts) {
    const sum = sums.get(each.minute)
    sums.set(each.minute, sum === undefined ? each : bothOf(sum, each))
  }
  return [...sums.values()].sort((a, b) => a.minute - b.minute)
}

function bothOf(one: MinuteOutcomes, other: MinuteOutcomes): MinuteOutcomes {
  const sums = OUTCOME_COLUMNS.map((column) => [column, one[column] + other[column]] as const)
  return { ...one, ...Object.fromEntries(sums) }
}

function fromRow(row: StoredMinute): MinuteOutcomes {
  const counts = COLUMNS.map(([name, column]) => [column, Number(row[name])] as const)
  return { minute: Number(row.minute), ...(Object.fromEntries(counts) as Record<OutcomeColumn, number>) }
}
