import { type CellSchema, GRACE_MS } from '@scoregw/quota/store'
import type { TableNames } from '../schema/tables.ts'
import { type Amount, addedCell } from './added-cell.ts'
import { raise, revisionIn } from './statements.ts'

/** The properties that determine a statement. */
export interface AddShape {
  readonly cells: readonly CellSchema[]
  /** Whether takes have several rows of their own, and need all of them. */
  readonly isGrouped: boolean
  /** How many rows they share. */
  readonly shared: number
}

/**
 * Values of each row that is added to. First its key and its group; a group's rows are added to together or not at all,
 * while group 0 stands for rows without one. Then by cell: the amount to add (-1: nothing) and the lowest limit of its takes. A calendar
 * cell adds the start of a period, its end and the end of the next; a bucket adds how many tokens refill in half its
 * length.
 */
export type AddedValues = readonly (string | number)[]

/** How many values come before those of rows. */
const FIRST = 9

/**
 * Adds to rows in one statement. Each row is guarded: all additions fit, and its cells are open or open now. Missing
 * rows are inserted. The amounts added to subjects' rows are then added to the rows that they share. If those don't fit
 * in one of them, nothing is done.
 *
 * Rows are found one after the other by their keys, in the order of the values. An upsert leaves the server no other
 * plan, regardless of its statistics. So all processes lock in the same order.
 *
 * Values: 1 layout, 2 revision (null: any), 3 lock timeout with its unit, 4 deadline in ms, 5 instant (null: the
 * server's), 6 fence, 7 number of the statement, 8 and 9 first and last of the rows whose sums shared rows take. Then
 * come the columns of subjects' rows, then the values of each shared row, whose sums are those of all rows. Row:
 * instant; the cells of subjects' rows that were added to; those of shared rows; the keys of subjects' rows if not all
 * were added to.
 */
export function addStatement(shape: AddShape, tables: TableNames): string {
  return new AddStatement(shape, tables).text()
}

/** SQL for a cell. */
type ByCell = (c: number) => string

/** The statement, a method for each of its queries. */
class AddStatement {
  readonly #shape: AddShape
  readonly #tables: TableNames
  /** The cells that are added to: all except slots, which come last in a row. */
  readonly #windows: readonly CellSchema[]
  /** Which of them are buckets. */
  readonly #buckets: readonly number[]
  /** Names of a row's values except its key: its group, then those of its cells. */
  readonly #names: readonly string[]
  /** Longer than any window, in milliseconds. */
  readonly #longestMs: number

  constructor(shape: AddShape, tables: TableNames) {
    this.#shape = shape
    this.#tables = tables
    this.#windows = shape.cells.filter(({ kind }) => kind !== 'concurrency')
    this.#buckets = [...this.#windows.keys()].filter((c) => this.#windows[c]!.kind === 'bucket')
    this.#names = ['grp', ...this.#windows.flatMap(namesOf)]
    this.#longestMs = Math.max(...this.#windows.map(({ lengthMs }) => lengthMs)) + GRACE_MS
  }

  text(): string {
    const { isGrouped, shared } = this.#shape
    const queries = [
      `now as materialized (${this.#now()})`,
      ...(isGrouped ? [`bad as materialized (${this.#badGroups()})`] : []),
      `own as (${this.#addToOwn()})`,
      "o as materialized (select count(*) as n, string_agg(cells, '') as cells from own)",
      ...(shared > 0 ? [`part as (${this.#addedSums()})`, `other as (${this.#addToShared()})`] : []),
      `fence as (${this.#raiseFence()})`,
    ]
    return `with ${queries.join(',\n')}
    ${this.#answer()}`
  }

  /** Sets how long the statement waits for locks. One row: the settings' revision, and the instant. */
  #now(): string {
    return `select set_config('lock_timeout', $3, true) as waits, ${revisionIn(this.#tables.settings)} as revision,
      coalesce($5::bigint, floor(date_part('epoch', statement_timestamp()) * 1000)::bigint) as now`
  }

  /** Groups with a row that has no room. */
  #badGroups(): string {
    return `select distinct a.grp from ${this.#misfits(this.#ownRows())}`
  }

  #addToOwn(): string {
    const hasRoom = this.#shape.shared > 0 ? ` and not exists (select from ${this.#misfits(this.#sharedRows())})` : ''
    const where = `($2::text is null or $2 = n.revision)${hasRoom}${this.#isInGoodGroup()}`
    return this.#upsert(`now n, ${this.#ownRows()}`, (c) => `a.s${c}`, where)
  }

  /** Sums of the subjects' rows that were added to, by cell; -1 for nothing. */
  #addedSums(): string {
    const sums = this.#list((c) => `coalesce(sum(a.s${c}) filter (where a.s${c} > 0), -1)::bigint as s${c}`)
    return `select ${sums} from own join ${this.#ownRows()} on a.key = own.key where a.place between $8::int and $9::int`
  }

  #addToShared(): string {
    const sum: ByCell = (c) => `case when ${IS_ALL} then a.s${c} else (select s${c} from part) end`
    return this.#upsert(`now n, o, ${this.#sharedRows()}`, sum, 'o.n > 0')
  }

  /** Stores the statement's number, and which rows were added to if not all were. */
  #raiseFence(): string {
    const keys = `case when ${IS_ALL} then null else (select json_agg(key)::text from own) end`
    return raise(this.#tables.fences, `select $6, $7::bigint, n.now, 0, ${keys} from now n, o where o.n > 0`)
  }

  /** The answer. If a condition of the whole statement fails, it divides by 0, so that nothing was done. */
  #answer(): string {
    const { isGrouped, shared } = this.#shape
    const conditions = [
      'exists (select from fence)',
      "clock_timestamp() < statement_timestamp() + $4::int * interval '1 ms'",
      ...(shared > 0 ? [`(select count(*) from other) = ${shared}`] : []),
      ...(isGrouped ? [`o.n = (select count(*) from ${this.#ownRows()} where true${this.#isInGoodGroup()})`] : []),
    ]
    // Values 8 and 9 are read in every form, so that the server knows their types.
    return `select n.now, o.cells, ${shared > 0 ? "(select string_agg(cells, '') from other)" : 'null'},
      (select keys from fence),
      1 / (o.n = 0 or ${conditions.join(' and ')})::int
    from now n, o${shared > 0 ? '' : ' where $8::int <= $9::int'}`
  }

  /**
   * Rows of subjects as `a`. One function makes them: each takes longer to begin than all of them to end. The keys come from a
   * query, so that the server plans without them. After a few plans for the values at hand it keeps one plan for all.
   */
  #ownRows(): string {
    const columns = this.#names.map((name, at) => `($${FIRST + 2 + at}::${typeOf(name)}[])[k.place] as ${name}`)
    return `(select k.key, k.place, ${columns.join(', ')}
    from unnest((select $${FIRST + 1}::text[])) with ordinality as k(key, place)) a`
  }

  /** Rows that subjects share, as `a`. */
  #sharedRows(): string {
    const width = 1 + this.#names.length
    const rows = Array.from({ length: this.#shape.shared }, (_, row) => {
      const first = FIRST + 1 + width * (row + 1)
      const values = this.#names.map((name, at) => `$${first + 1 + at}::${typeOf(name)}`)
      return `($${first}::text, ${row}, ${values.join(', ')})`
    })
    return `(values ${rows.join(',')}) as a(key, place, ${this.#names.join(',')})`
  }

  /** Those rows that are stored and have no room. */
  #misfits(source: string): string {
    const fits = this.#fits((c) => ({
      sum: `a.s${c}`,
      limit: `a.m${c}`,
      opensAt: this.#opensAt(c),
      rate: `a.v${c}`,
      now: 'n.now',
    }))
    return `now n, ${source} join ${this.#tables.rows} r on r.key = a.key
    where (${fits}) is not true`
  }

  #isInGoodGroup(): string {
    return this.#shape.isGrouped ? ' and a.grp <> all (array(select grp from bad))' : ''
  }

  /**
   * Makes or adds to rows. The guard of a row that is there reads the amounts from the row that would be made. That one has
   * cells as `[start if it opens now, sum]`, the least limits, and the rates of buckets. Its `ends_at` is the instant and the
   * longest length.
   */
  #upsert(source: string, sum: ByCell, where: string): string {
    const { cells } = this.#shape
    const windows = this.#windows.length
    const hasSlots = windows < cells.length
    const made = this.#list((c) => `case when ${sum(c)} < 0 then -1 else ${this.#opensAt(c)} end, ${sum(c)}`)
    const limits = [this.#list((c) => `a.m${c}`), ...this.#buckets.map((c) => `a.v${c}`)].join(', ')
    const amount = (c: number): Amount => ({
      sum: `excluded.cells[${2 * c + 2}]`,
      limit: `excluded.limits[${c + 1}]`,
      opensAt: `excluded.cells[${2 * c + 1}]`,
      rate: `excluded.limits[${windows + this.#buckets.indexOf(c) + 1}]`,
      now: `(excluded.ends_at - ${this.#longestMs})`,
    })
    const added = this.#windows.map((cell, c) => addedCell(cell, c, amount(c)))
    const ends = this.#list((c) => `${added[c]!.start} + ${cells[c]!.lengthMs + GRACE_MS} - r.ends_at`)
    return `insert into ${this.#tables.rows} as r (key, layout, cells, ends_at, limits)
      select a.key, $1::bigint, array[${made}${hasSlots ? ', -1, -1' : ''}]::bigint[], n.now + ${this.#longestMs}, array[${limits}]
      from ${source} where ${where}${this.#isInPeriods()} order by a.place
      on conflict (key) do update set limits = null,
        cells = array[${this.#list((c) => `${added[c]!.start}, ${added[c]!.used}`)}${
          hasSlots ? `, r.cells[${2 * windows + 1}], r.cells[${2 * windows + 2}]` : ''
        }],
        ends_at = r.ends_at + greatest(0, ${ends})
      where ${this.#fits(amount)} returning r.key, r.cells::text as cells`
  }

  /** Whether the stored row `r` has the layout, and room for the amounts. */
  #fits(amount: (c: number) => Amount): string {
    const { cells } = this.#shape
    const fit = this.#list((c) => addedCell(cells[c]!, c, amount(c)).fits, ' and ')
    return `r.layout = $1 and cardinality(r.cells) = ${2 * cells.length} and ${fit}`
  }

  /** The start of a cell that opens now. */
  #opensAt(c: number): string {
    return this.#isCalendar(c) ? `case when n.now < a.q${c} then a.p${c} else a.q${c} end` : 'n.now'
  }

  /** Whether the instant is in one of the two periods of each calendar cell that is added to. */
  #isInPeriods(): string {
    return this.#list(
      (c) => (this.#isCalendar(c) ? ` and (a.s${c} < 0 or n.now >= a.p${c} and n.now < a.r${c})` : ''),
      '',
    )
  }

  #isCalendar(c: number): boolean {
    return this.#windows[c]!.kind === 'calendar'
  }

  #list(make: ByCell, by = ', '): string {
    return this.#windows.map((_, c) => make(c)).join(by)
  }
}

/** Whether all rows of subjects were added to. */
const IS_ALL = `o.n = cardinality($${FIRST + 1}::text[])`

/** The names of a cell's values. A calendar cell has the start, end and next end of a period as well. A bucket has its rate. */
function namesOf({ kind }: CellSchema, c: number): string[] {
  const names = [`s${c}`, `m${c}`]
  if (kind === 'calendar') names.push(`p${c}`, `q${c}`, `r${c}`)
  if (kind === 'bucket') names.push(`v${c}`)
  return names
}

function typeOf(name: string): string {
  return name === 'grp' ? 'int' : 'bigint'
}
