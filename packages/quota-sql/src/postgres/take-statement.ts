import { GRACE_MS, MAX_AHEAD_MS, MAX_USED, type RowLayout } from '@scoregw/quota/internal'
import type { CellSchema } from '@scoregw/quota/store'
import type { TableNames } from '../schema/tables.ts'
import type { Charge } from '../step/requested.ts'
import { revisionIn } from './statements.ts'

/** How often a row's end moves, per length of its longest window. */
const ENDS_PER_LENGTH = 8

/** What the statements of a store have in common. */
export interface TakeSettings {
  readonly tables: TableNames
  /** How long a statement waits for a locked row, in milliseconds. */
  readonly lockMs: number
  /** Replaces the server's clock. */
  readonly now: (() => number) | undefined
}

/** A row of a take. */
export interface PlannedRow {
  /** Its position among the take's rows. */
  readonly slot: number
  readonly isShared: boolean
  readonly layout: RowLayout
  /** Its cells that the take's set of limits has, and those of them that are charged. */
  readonly counted: readonly number[]
  readonly charged: readonly number[]
}

/** Reads a value of a statement from the take. */
export type Value = (charge: Charge) => unknown

/**
 * The statement of a take, and its values. It charges all rows of the take or none, and inserts missing ones.
 *
 * Each row is an upsert, whose guard is checked once the row is locked. Each upsert but the first reads from the one
 * before it. So rows are locked in one order, and an own row without room leaves shared rows alone. If a later row has no
 * room, the statement divides by zero, which undoes it. The server logs that, so further own rows are checked before
 * anything is charged.
 *
 * Answer: the instant, then start and use of the counted cells of each row. No row, or a division by zero: not charged.
 */
export class TakeText {
  /** In the order of the answer's columns: the charged ones, then the others. */
  readonly rows: readonly PlannedRow[]
  readonly values: Value[] = []
  readonly #charged: readonly PlannedRow[]
  readonly #others: readonly PlannedRow[]
  readonly #settings: TakeSettings
  readonly #now: string
  readonly #revision: string | undefined
  /** By slot. */
  readonly #keys: readonly string[]
  /** Of the cells that are charged, by position. */
  readonly #amounts = new Map<number, Amount>()
  /** The periods of calendar windows, by position. */
  readonly #periods = new Map<number, { readonly start: string; readonly nextEnd: string }>()

  constructor(rows: readonly PlannedRow[], { refs, request, rows: { places } }: Charge, settings: TakeSettings) {
    this.#charged = rows.filter(({ charged }) => charged.length > 0)
    this.#others = rows.filter(({ charged }) => charged.length === 0)
    this.rows = [...this.#charged, ...this.#others]
    this.#settings = settings
    const { now } = settings
    this.#now = now ? this.#value('bigint', now) : "floor(date_part('epoch', statement_timestamp()) * 1000)::bigint"
    this.#keys = refs.map((_, slot) => this.#value('text', (charge) => charge.refs[slot]!.key))
    const hasRevision = request.settingsRevision !== undefined
    this.#revision = hasRevision ? this.#value('text', (charge) => charge.request.settingsRevision) : undefined
    for (const { layout, counted } of rows) {
      for (const at of counted.map((c) => layout.first + c).filter((each) => places.calendars.includes(each))) {
        this.#periods.set(at, { start: this.#period(at, 0), nextEnd: this.#period(at, 2) })
      }
    }
    const costs = new Map<number, string>()
    for (const { layout, charged } of this.#charged) {
      for (const c of charged) {
        const unit = layout.units[c]!
        const cost = costs.get(unit) ?? this.#value('bigint', (charge) => charge.request.costs[unit])
        costs.set(unit, cost)
        this.#amounts.set(layout.first + c, this.#amountOf(layout, c, cost))
      }
    }
  }

  text(): string {
    const [first, ...later] = this.#charged
    const { lockMs, tables } = this.#settings
    const begin = `(select ${this.#now} as now, set_config('lock_timeout', '${lockMs}ms', true) offset 0) n`
    const conditions = this.#conditions().map((condition) => ` and ${condition}`)
    const upsert = this.#upsert(first!, `${begin} where true${conditions.join('')}`)
    if (this.rows.length === 1) return `${upsert} returning ${this.#now}, ${countedIn(first!)}`
    const upserts = [
      upsert,
      ...later.map((row, at) => this.#upsert(row, `(select ${this.#now} as now from w${at} offset 0) n`)),
    ]
    const queries = upserts.map((text, at) => `w${at} as (${text} returning ${countedIn(this.#charged[at]!)})`)
    const found = [
      ...upserts.map((_, at) => (at === 0 ? 'w0' : `w${at} on true`)),
      ...this.#others.map(({ slot }, at) => `${tables.rows} o${at} on o${at}.key = ${this.#keys[slot]}`),
    ]
    const answer = [
      this.#now,
      ...upserts.map((_, at) => `w${at}.*`),
      ...this.#others.map((row, at) => countedIn(row, `o${at}.`)),
    ]
    const [last] = this.#charged.at(-1)!.charged
    if (later.length > 0) answer.push(`1 / (w${later.length}.u${last! + 1} is not null)::int`)
    return `with ${queries.join(',\n')} select ${answer.join(', ')} from ${found.join(' left join ')}`
  }

  /** Adds the start (0), end (1) or next end (2) of a calendar window's periods. */
  #period(at: number, index: number): string {
    return this.#value('bigint', ({ rows, request }) => request.periods?.[rows.places.periodsAt(at) + index])
  }

  /** Adds a value. */
  #value(type: string, value: Value): string {
    this.values.push(value)
    return `$${this.values.length}::${type}`
  }

  #amountOf({ cells, first }: RowLayout, c: number, cost: string): Amount {
    const at = first + c
    const { kind } = cells[c]!
    const start = this.#periods.get(at)?.start
    const end = start === undefined ? '' : this.#period(at, 1)
    return {
      cost,
      limit: this.#value('bigint', ({ request }) => Math.min(MAX_USED, request.quotas.limits[at]!)),
      opensAt: start === undefined ? 'n.now' : `case when n.now < ${end} then ${start} else ${end} end`,
      rate: kind === 'bucket' ? this.#value('bigint', ({ request }) => request.quotas.rates?.[at] ?? 0) : '0',
    }
  }

  /** What has to be so before anything is charged. */
  #conditions(): string[] {
    const { tables } = this.#settings
    const none = (slot: number, where: string): string =>
      `not exists (select from ${tables.rows} r where r.key = ${this.#keys[slot]} and ${where})`
    const ownAfterFirst = this.#charged.slice(1).filter(({ isShared }) => !isShared)
    return [
      ...(this.#revision === undefined ? [] : [`${revisionIn(tables.settings)} = ${this.#revision}`]),
      ...[...this.#periods.values()].map(({ start, nextEnd }) => `n.now >= ${start} and n.now < ${nextEnd}`),
      ...ownAfterFirst.map((row) => none(row.slot, `(${fitsIn(row, (c) => this.#amount(row, c))}) is not true`)),
      ...this.#others.map(({ slot, layout }) => none(slot, `r.layout <> ${layout.hash}`)),
    ]
  }

  #amount({ layout }: PlannedRow, c: number): Amount {
    return this.#amounts.get(layout.first + c)!
  }

  /** Inserts a row, or charges it if it has room. */
  #upsert(row: PlannedRow, source: string): string {
    const { layout, charged, slot } = row
    const inserted = (c: number): Amount => {
      return { ...this.#amount(row, c), cost: `excluded.u${c + 1}`, opensAt: `excluded.s${c + 1}` }
    }
    const made = layout.cells.map((_, c) => {
      const amount = this.#amounts.get(layout.first + c)
      return amount === undefined ? '-1, -1' : `${amount.opensAt}, ${amount.cost}`
    })
    const cells = charged.map((c) => ({ c, ...chargedCell(layout.cells[c]!, c, inserted(c)) }))
    const set = cells.map(({ c, start, used }) => `s${c + 1} = ${start}, u${c + 1} = ${used}`)
    const columns = layout.cells.map((_, c) => `s${c + 1}, u${c + 1}`)
    return `insert into ${this.#settings.tables.rows} as r (key, layout, ends_at, ${columns.join(', ')})
      select ${this.#keys[slot]}, ${layout.hash}, ${endsAt(row)}, ${made.join(', ')} from ${source}
      on conflict (key) do update set ${set.join(', ')}, ends_at = r.ends_at + greatest(0, excluded.ends_at - r.ends_at)
      where ${fitsIn(row, inserted)}`
  }
}

/**
 * When a row that is charged now may be deleted: after the longest window, rounded up. So the index of ends is seldom
 * written. A row that is kept until its next write has no end, and keeps it so.
 */
function endsAt({ layout, charged }: PlannedRow): string {
  const longestMs = Math.max(...charged.map((c) => layout.lengthsMs[c]!))
  const stepMs = Math.ceil(longestMs / ENDS_PER_LENGTH)
  return `(n.now / ${stepMs} + ${ENDS_PER_LENGTH + 1}) * ${stepMs} + ${GRACE_MS}`
}

/** Whether the stored row `r` has the layout, and room for the amounts. */
function fitsIn({ layout, charged }: PlannedRow, amount: (c: number) => Amount): string {
  const fit = charged.map((c) => chargedCell(layout.cells[c]!, c, amount(c)).fits)
  return `r.layout = ${layout.hash} and ${fit.join(' and ')}`
}

/** The columns of a row's counted cells. */
function countedIn({ counted }: PlannedRow, of = 'r.'): string {
  return counted.map((c) => `${of}s${c + 1}, ${of}u${c + 1}`).join(', ')
}

// A charged cell ------------------------------------------------------------------------------------------------------

/** SQL for what a charge adds to a cell, and for what its guard reads. */
interface Amount {
  readonly cost: string
  readonly limit: string
  /** The start of a cell that opens now: the instant, or the start of a calendar window's period. */
  readonly opensAt: string
  /** How many tokens a bucket refills in half its length; 0 for none. */
  readonly rate: string
}

/** A stored cell and a charge of it, as SQL. */
interface ChargedCell {
  /** Whether the charge fits. `null` for a cell that can't be read. */
  readonly fits: string
  /** The cell's start and use afterwards. */
  readonly start: string
  readonly used: string
}

/** The columns of cell `c` of the stored row `r`. */
interface Columns {
  readonly start: string
  readonly used: string
}

/**
 * Charges cell `c` of the stored row `r`, by the rules of `roll` and `add` in the core. It doesn't fit a cell that a
 * reset has closed or that starts far ahead: a step decides these. So a cell that isn't open started before `opensAt`.
 */
function chargedCell(cell: CellSchema, c: number, amount: Amount): ChargedCell {
  const columns = { start: `r.s${c + 1}`, used: `r.u${c + 1}` }
  return cell.kind === 'bucket' ? bucket(cell, columns, amount) : window(cell, columns, amount)
}

function window({ kind, lengthMs }: CellSchema, { start, used }: Columns, amount: Amount): ChargedCell {
  const { cost, limit, opensAt } = amount
  const isOpen = `${start} > ${opensAt} - ${kind === 'calendar' ? 1 : lengthMs}`
  const sum = `case when ${isOpen} then ${used} else 0 end + ${cost}`
  return {
    fits: `${isReadable({ start, used }, amount)} and ${sum} <= ${limit}`,
    start: `case when ${isOpen} then ${start} else ${opensAt} end`,
    used: sum,
  }
}

/**
 * Like `rollBucket` in the core. Products may exceed a bigint, so they are `numeric`. Moving the start of an old bucket
 * keeps its numbers small.
 */
function bucket({ lengthMs }: CellSchema, { start, used }: Columns, amount: Amount): ChargedCell {
  const { cost, limit, opensAt, rate } = amount
  const [age, perMs] = [`(${opensAt} - ${start})`, lengthMs / 2]
  const back = `div(least(${age}, ${lengthMs})::numeric * ${rate}, ${perMs})::bigint`
  const isOpen = `(${start} > ${opensAt} - ${lengthMs} and (${rate} = 0 or ${age} <= 0 or ${back} < ${used}))`
  const isOld = `${rate} > 0 and ${age} >= ${perMs}`
  return {
    fits: `${isReadable({ start, used }, amount)} and ${used} + ${cost} <= ${MAX_USED}
      and case when ${isOpen} then ${used} - ${back} else 0 end + ${cost} <= ${limit}`,
    start: `case when not ${isOpen} then ${opensAt} when ${isOld} then ${start} + ${perMs} else ${start} end`,
    used: `case when not ${isOpen} then ${cost} when ${isOld} then ${used} - ${rate} + ${cost} else ${used} + ${cost} end`,
  }
}

function isReadable({ start, used }: Columns, { opensAt }: Amount): string {
  return `(${used} >= 0 or ${start} = -1) and ${start} <= ${opensAt} + ${MAX_AHEAD_MS}`
}
