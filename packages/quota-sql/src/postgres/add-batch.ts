import {
  type RowLayout as CoreRowLayout,
  Instant,
  type Layout,
  MAX_USED,
  PERIOD_NUMBERS,
  type TakeReply,
  view,
} from '@scoregw/quota/store'
import type { Operation } from '../step/operation.ts'
import type { RowRef } from '../step/requested.ts'
import type { RowLayout, StoredRow } from '../step/row-layout.ts'
import type { Charge } from '../step/schema-rows.ts'
import type { AddedValues, AddShape } from './add-statement.ts'
import { arrayOf } from './session.ts'

/** A take, which only adds to rows. */
interface Add {
  readonly operation: Operation
  readonly charge: Charge
  /** Its rows, in the order of the layers that apply. */
  readonly rows: readonly AddedRow[]
}

/** A row that some takes add to. */
class AddedRow {
  readonly ref: RowRef
  readonly slot: number
  /** The position of its first limit. */
  readonly first: number
  /** By cell; -1: nothing. */
  readonly sums: number[]
  readonly limits: number[]
  readonly periods: (readonly number[] | undefined)[]
  /** By cell: how many tokens a bucket refills; 0 for other cells. */
  readonly rates: readonly number[]
  group = 0
  /** Its numbers after the statement; `undefined` if nothing was added. */
  pairs: number[] | undefined

  constructor(slot: number, { refs, layers, rows: { places }, request }: Charge) {
    const { first, width, lengthsMs } = places.rows[layers[slot]!]!
    this.ref = refs[slot]!
    this.slot = slot
    this.first = first
    this.sums = Array.from({ length: width }, () => -1)
    this.limits = Array.from({ length: width }, () => MAX_USED)
    this.rates = lengthsMs.map((_, c) => request.quotas.rates?.[first + c] ?? 0)
    this.periods = lengthsMs.map((_, c) => {
      const at = places.periodsAt(first + c)
      return at < 0 ? undefined : request.periods?.slice(at, at + PERIOD_NUMBERS)
    })
  }
}

/** The properties that takes must share to be made by one statement. */
export function kindOf({ layout, layers, request }: Charge): string {
  return `${layout.hash} ${layers} ${request.settingsRevision ?? ''}`
}

/** Takes of one kind for one statement, as far as they all fit together. */
export class AddBatch {
  readonly shape: AddShape
  readonly revision: string | undefined
  readonly layout: RowLayout
  readonly #places: Layout
  /** The cells that its rows have. */
  readonly #cells: CoreRowLayout
  readonly #all: Operation[] = []
  /** The takes that the statement makes. */
  readonly #adds: Add[] = []
  readonly #byKey = new Map<string, AddedRow>()
  readonly #own: readonly number[]
  readonly #shared: readonly number[]
  readonly #instant: Instant
  /** Rows of {@link #own} and {@link #shared} in the order of locks. */
  #ownRows: readonly AddedRow[] = []
  #sharedRows: readonly AddedRow[] = []

  constructor({ rows: { places }, layers, layout, refs, request }: Charge) {
    this.layout = layout
    this.#places = places
    this.#cells = places.rows[layers[0]!]!
    this.revision = request.settingsRevision
    const slots = [...refs.keys()]
    const own = slots.filter((slot) => refs[slot]!.place.key !== '')
    // If only shared rows apply, they get the charge.
    this.#own = own.length === 0 ? slots : own
    this.#shared = own.length === 0 ? [] : slots.filter((slot) => refs[slot]!.place.key === '')
    this.shape = { cells: this.#cells.cells, isGrouped: this.#own.length > 1, shared: this.#shared.length }
    this.#instant = new Instant(places)
  }

  get operations(): readonly Operation[] {
    return this.#all
  }

  /** Adds a take, unless it can never fit together with the others. */
  add(operation: Operation, charge: Charge): void {
    this.#all.push(operation)
    const { refs, request } = charge
    const rows = refs.map((ref, slot) => this.#byKey.get(ref.key) ?? new AddedRow(slot, charge))
    const costOf = (c: number): number => request.costs[this.#cells.units[c]!]!
    const fits = ({ first, sums, limits, periods, rates }: AddedRow): boolean =>
      sums.every((sum, c) => {
        const limit = Math.min(limits[c]!, request.quotas.limits[first + c]!)
        const at = this.#places.periodsAt(first + c)
        const hasPeriod = periods[c]?.every((number, index) => number === request.periods?.[at + index]) !== false
        const hasRate = rates[c] === (request.quotas.rates?.[first + c] ?? 0)
        return hasPeriod && hasRate && (costOf(c) === 0 || Math.max(0, sum) + costOf(c) <= limit)
      })
    if (!rows.every(fits)) return
    for (const row of rows) {
      this.#byKey.set(row.ref.key, row)
      for (let c = 0; c < this.#cells.width; c++) {
        if (costOf(c) === 0) continue
        row.sums[c] = Math.max(0, row.sums[c]!) + costOf(c)
        row.limits[c] = Math.min(row.limits[c]!, request.quotas.limits[row.first + c]!)
      }
    }
    this.#adds.push({ operation, charge, rows })
  }

  /** Whether none of its takes can ever fit. */
  get isEmpty(): boolean {
    return this.#adds.length === 0
  }

  /** The statement's values for rows. */
  values(): unknown[] {
    this.#ownRows = this.#rowsOf(this.#own)
    this.#sharedRows = this.#rowsOf(this.#shared)
    if (this.shape.isGrouped) this.#group()
    const isFirst = this.#ownRows.map(({ slot }) => slot === this.#own[0])
    const own = this.#ownRows.map((row) => this.#valuesOf(row))
    const columns = own[0]!.map((_, column) => arrayOf(own.map((values) => values[column]!)))
    const shared = this.#sharedRows.flatMap((row) => this.#valuesOf(row))
    return [isFirst.indexOf(true) + 1, isFirst.lastIndexOf(true) + 1, ...columns, ...shared]
  }

  /**
   * Answers the takes whose rows were all added to, in a possible order.
   *
   * @param own the numbers of subjects' rows that were added to
   * @param keys of those rows, if they aren't all
   * @returns the other takes
   */
  answer(now: number, own: readonly number[][], shared: readonly number[][], keys: readonly string[]): Operation[] {
    const added = own.length === this.#ownRows.length ? this.#ownRows : keys.map((key) => this.#byKey.get(key)!)
    for (const [at, row] of added.entries()) row.pairs = own[at]!
    for (const [at, row] of this.#sharedRows.entries()) row.pairs = shared[at]
    const isMade = ({ rows }: Add): boolean => rows.every(({ pairs }) => pairs !== undefined)
    const made = this.#adds.filter(isMade)
    for (const add of made) this.#change(add, -1)
    for (const add of made) {
      this.#change(add, 1)
      add.operation.decided(this.#reply(add, now))
    }
    return this.#done(made)
  }

  /**
   * Like {@link answer}, for a statement whose answer was lost: from its rows, read some time later. A start from after
   * the statement is not reported, so that nothing is refunded to a window that was not charged.
   *
   * @param at the instant of the statement
   */
  answerLate(at: number, rows: ReadonlyMap<string, StoredRow>, keys?: readonly string[]): Operation[] {
    const isAdded = (row: AddedRow): boolean =>
      keys === undefined || this.#shared.includes(row.slot) || keys.includes(row.ref.key)
    const made = this.#adds.filter((add) => add.rows.every(isAdded))
    for (const add of made) {
      for (const row of add.rows) row.pairs = this.#pairsAt(at, rows.get(row.ref.key))
      add.operation.decided(this.#reply(add, at))
    }
    return this.#done(made)
  }

  #done(made: readonly Add[]): Operation[] {
    const done = new Set(made.map(({ operation }) => operation))
    for (const operation of done) operation.done()
    return this.#all.filter((operation) => !done.has(operation))
  }

  #pairsAt(at: number, row: StoredRow | undefined): number[] {
    return this.layout.identities.flatMap((identity) => {
      const c = row?.layout?.identities.indexOf(identity) ?? -1
      const start = row?.pairs?.[2 * c] ?? -1
      return c < 0 || start > at ? [-1, -1] : [start, row?.pairs?.[2 * c + 1] ?? -1]
    })
  }

  #reply({ charge: { request }, rows }: Add, now: number): TakeReply {
    const { size, units } = this.#cells
    const states = this.#places.blank.slice()
    this.#instant.moveTo(now, request.periods)
    const { after, opensAt } = this.#instant
    for (const { first, pairs, sums } of rows) {
      for (let c = 0; c < size; c++) {
        const at = first + c
        // The statement opened it for a take that comes after this one.
        const isFirstUsed = sums[c] !== -1 && pairs![2 * c + 1] === 0 && pairs![2 * c] === opensAt[at]
        const isLater = isFirstUsed && request.costs[units[c]!] === 0
        if (!isLater) view(pairs!, 2 * c, after[at]!, now, states, 2 * at)
      }
    }
    return { outcome: 'admitted', now, states }
  }

  #change({ charge: { request }, rows }: Add, sign: 1 | -1): void {
    const { units, width } = this.#cells
    for (const { pairs } of rows) for (let c = 0; c < width; c++) pairs![2 * c + 1]! += sign * request.costs[units[c]!]!
  }

  /** Rows of some of the layers, in the order of locks. */
  #rowsOf(slots: readonly number[]): AddedRow[] {
    const rows = [...this.#byKey.values()].filter(({ slot }) => slots.includes(slot))
    return rows.sort((a, b) => (a.ref.key < b.ref.key ? -1 : 1))
  }

  #valuesOf({ ref, group, sums, limits, periods, rates }: AddedRow): AddedValues {
    const { calendars, persMs } = this.#cells
    const cells = sums.flatMap((sum, c) => [
      sum,
      limits[c]!,
      ...(calendars.includes(c) ? (periods[c] ?? [0, 0, 0]) : []),
      ...(persMs[c]! > 0 ? [rates[c]!] : []),
    ])
    return [ref.key, group, ...cells]
  }

  /** Subjects' rows that takes share form one group. */
  #group(): void {
    const parents = new Map<AddedRow, AddedRow>()
    const root = (row: AddedRow): AddedRow => {
      let found = row
      for (let next = parents.get(found); next !== undefined; next = parents.get(found)) found = next
      return found
    }
    for (const { rows } of this.#adds) {
      const [first, ...others] = this.#own.map((slot) => rows[slot]!)
      for (const other of others) if (root(other) !== root(first!)) parents.set(root(other), root(first!))
    }
    const numbers = new Map<AddedRow, number>()
    for (const row of this.#byKey.values()) {
      const of = root(row)
      row.group = numbers.get(of) ?? numbers.size + 1
      numbers.set(of, row.group)
    }
  }
}
