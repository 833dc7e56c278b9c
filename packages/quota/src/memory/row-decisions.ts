import type { WindowStates } from '../decision/decide.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { TakeRequest } from '../store/quota-store.ts'
import { keyName, layerKey, type StoreSchema, type SubjectKeys } from '../store/schema.ts'
import { Instant, type Layout, layoutOf } from '../windows/layout.ts'
import { cameBack } from '../windows/refill.ts'
import { CLOSED, isFull, MAX_AHEAD_MS, MAX_USED, NOT_OPEN, reanchor, view } from '../windows/row.ts'
import { SLOTS } from '../windows/units.ts'
import { NOWHERE, type RowTable, type Tables, TableView } from './row-table.ts'

/** How many rows to check before a full table rejects a new subject. */
const SWEEP_WHEN_FULL = 64

/** A row that never opened. It stands in for missing rows, whatever cells their tables have. */
const BLANK = new Float64Array(2 * 1_024).fill(CLOSED)

/** The part of a request that rows need. */
export type RowRequest = Pick<TakeRequest, 'subject' | 'set' | 'quotas' | 'periods' | 'costs'>

/** The reply of the rows. `stale`: the clock is outside the request's periods. */
export interface RowReply {
  readonly outcome: 'admitted' | 'refused' | 'stale'
  readonly now: number
  readonly states: WindowStates
}

/**
 * What the rows of a request show. This is the usual case: all cells are open and have room. Otherwise, a combination
 * of the flags below.
 */
const USUAL = 0
/** A cell isn't open, or its row is missing. */
const TO_ROLL = 1
const NO_ROOM = 2
/** A start is far ahead of the clock. */
const AHEAD = 4

/** The cells of a layer that a set of limits counts in: at least one. */
interface CountedCells {
  readonly layer: number
  readonly table: RowTable
  readonly shared: boolean
  /** The member of a subject that is its key. */
  readonly by: string
  /** The limits' positions. */
  readonly limits: readonly number[]
  /** Where their cells are in the table's rows. */
  readonly offsets: readonly number[]
}

/** The rows of one schema. Reads and charges them for one request at a time. */
export class RowDecisions {
  readonly layout: Layout
  readonly schema: StoreSchema
  readonly #maxSubjects: number
  /** By layer. */
  readonly #views: readonly TableView[]
  /** By set, without layers in which it counts nothing: a request has no row there. */
  readonly #counted: readonly (readonly CountedCells[])[]
  readonly #instant: Instant
  readonly #nothing: readonly number[]
  /** For the current request: the cells that it counts in, and for each layer of them the page and start of its row. */
  #rows: readonly CountedCells[] = []
  readonly #pages: Float64Array[] = []
  readonly #at: number[] = []
  /** For the current request: its states as read, and what they show. */
  #states: number[] = []
  #said = USUAL

  constructor(schema: StoreSchema, tables: Tables, maxSubjects: number) {
    this.schema = schema
    this.layout = layoutOf(schema)
    this.#maxSubjects = maxSubjects
    this.#instant = new Instant(this.layout)
    this.#nothing = new Array<number>(schema.units.length + 1).fill(0)
    const names = [...schema.units, SLOTS]
    this.#views = schema.layers.map(({ name, cells }) => {
      return new TableView(
        tables.of(name),
        cells.map((cell) => ({ ...cell, unit: names[cell.unit]! })),
      )
    })
    this.#counted = this.layout.counted.map((byLayer) =>
      byLayer.flatMap((limits, layer) => {
        const { table, offsets } = this.#views[layer]!
        const { first } = this.layout.rows[layer]!
        const { shared } = schema.layers[layer]!
        const by = keyName(schema.layers[layer]!)
        const counted = { layer, table, shared, by, limits, offsets: limits.map((at) => offsets[at - first]!) }
        return limits.length === 0 ? [] : [counted]
      }),
    )
  }

  /** Charges all rows, or none. If there is no room for new rows, throws before it writes. */
  decide(request: RowRequest, now: number): RowReply {
    if (!this.#read(request, now)) return { outcome: 'stale', now, states: [] }
    if ((this.#said & NO_ROOM) !== 0) return { outcome: 'refused', now, states: this.#refused(request, now) }
    return { outcome: 'admitted', now, states: this.#charged(request, now) }
  }

  /** Charges regardless of the limits. */
  force(request: RowRequest, now: number): RowReply {
    if (!this.#read(request, now)) return { outcome: 'stale', now, states: [] }
    return { outcome: 'admitted', now, states: this.#charged(request, now) }
  }

  /**
   * Returns the room that all windows have, per unit with a cost, at least 0; `undefined`: the clock is outside the
   * periods.
   */
  room(request: RowRequest, now: number): readonly number[] | undefined {
    if (!this.#read(request, now)) return undefined
    const { limits, rates } = request.quotas
    const room = request.costs.map(() => Number.POSITIVE_INFINITY)
    this.#eachCharged(request, (_, __, at) => {
      const unit = this.layout.units[at]!
      room[unit] = Math.max(0, Math.min(room[unit]!, limits[at]! - this.layout.usedAt(this.#states, at, rates, now)))
    })
    return room
  }

  /** Returns the unchanged states of rows; `undefined`: the clock is outside the periods. */
  read({ subject, set, quotas, periods }: Omit<RowRequest, 'costs'>, now: number): WindowStates | undefined {
    const request = { subject, set, quotas, periods, costs: this.#nothing }
    return this.#read(request, now) ? this.#states : undefined
  }

  /** Calls `visit` for the cells of limits in existing rows. @param limits their positions, ascending */
  change(
    subject: SubjectKeys,
    limits: readonly number[],
    visit: (cells: Float64Array, i: number, at: number) => void,
  ): void {
    let known = -1
    let place = NOWHERE
    for (const at of limits) {
      const layer = this.layout.layerOf[at]!
      const { table, offsets } = this.#views[layer]!
      if (layer !== known) place = table.placeOf(this.keyOf(layer, subject))
      known = layer
      if (place === NOWHERE) continue
      visit(table.pageOf(place), table.at(place) + offsets[at - this.layout.rows[layer]!.first]!, at)
    }
  }

  /** Returns the table of a layer, as the schema sees it. */
  viewOf(layer: number): TableView {
    return this.#views[layer]!
  }

  /** Returns the cells that a set of limits counts in, in the layers that apply. */
  countedIn(set: number, layers: readonly number[]): readonly CountedCells[] {
    const all = this.#counted[set]!
    return layers.length === this.#views.length ? all : all.filter(({ layer }) => layers.includes(layer))
  }

  keyOf(layer: number, subject: SubjectKeys): string {
    return layerKey(this.schema.layers[layer]!, subject)
  }

  /**
   * Finds the rows of a request, and reads their states and what they show. Every decision runs this loop, and it takes
   * half the time of a decision. It is a single loop with local variables, because small methods take twice as long.
   *
   * @returns `false`: the clock is outside the periods
   */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the hot loop, see above
  #read({ subject, set, quotas, costs, periods }: RowRequest, now: number): boolean {
    const { layers, limits, rates } = quotas
    if (!this.#instant.moveTo(now, periods)) return false
    const { after, usual } = this.#instant
    const rows = this.countedIn(set, layers)
    const pages = this.#pages
    const places = this.#at
    const { units } = this.layout
    const states = this.layout.blank.slice()
    let said = USUAL
    this.#rows = rows
    this.#states = states
    for (let r = 0; r < rows.length; r++) {
      const { table, shared, by, limits: counted, offsets } = rows[r]!
      const own = typeof subject === 'string' ? subject : subject[by]!
      const place = shared ? table.shared : table.placeOf(own)
      const cells = place === NOWHERE ? BLANK : table.pageOf(place)
      const at = place === NOWHERE ? 0 : table.at(place)
      pages[r] = cells
      places[r] = at
      for (let c = 0; c < counted.length; c++) {
        const n = counted[c]!
        const i = at + offsets[c]!
        const startedAt = cells[i]!
        let used = cells[i + 1]!
        const cost = costs[units[n]!]!
        if (used !== CLOSED && startedAt > usual[n]! && startedAt - now <= MAX_AHEAD_MS) {
          states[2 * n] = startedAt
        } else {
          view(cells, i, after[n]!, now, states, 2 * n)
          used = states[2 * n + 1]!
          if (rates !== undefined && rates[n]! > 0) {
            if (cost > 0) said |= this.#bucket(n, cost, limits[n]!, rates[n]!, startedAt, now)
            continue
          }
          if (cost > 0) said |= startedAt - now > MAX_AHEAD_MS ? TO_ROLL | AHEAD : TO_ROLL
        }
        states[2 * n + 1] = used
        if (cost > 0 && used + cost > limits[n]!) said |= NO_ROOM
      }
    }
    this.#said = said
    return true
  }

  /** Reads a bucket's cell. Its state is the cell as stored. Readers subtract the refill. */
  #bucket(n: number, cost: number, limit: number, rate: number, startedAt: number, now: number): number {
    const [start, used] = [this.#states[2 * n]!, this.#states[2 * n + 1]!]
    const perMs = this.layout.persMs[n]!
    const isOpen = start !== NOT_OPEN && !isFull(used, now - start, rate, perMs)
    const left = isOpen ? used - cameBack(now - start, rate, perMs) : 0
    const isUsual = isOpen && now - start < perMs
    return (
      (startedAt - now > MAX_AHEAD_MS ? TO_ROLL | AHEAD : USUAL) |
      (left + cost > limit ? NO_ROOM : USUAL) |
      (isUsual ? USUAL : TO_ROLL)
    )
  }

  /** Charges the current rows. @returns their states afterwards */
  #charged(request: RowRequest, now: number): WindowStates {
    if (this.#said !== USUAL) this.#roll(request, now)
    const { costs } = request
    const rows = this.#rows
    const states = this.#states
    const { units } = this.layout
    for (let r = 0; r < rows.length; r++) {
      const { limits: counted, offsets } = rows[r]!
      const cells = this.#pages[r]!
      const at = this.#at[r]!
      for (let c = 0; c < counted.length; c++) {
        const n = counted[c]!
        const cost = costs[units[n]!]!
        if (cost === 0) continue
        const used = Math.min(states[2 * n + 1]! + cost, MAX_USED)
        cells[at + offsets[c]! + 1] = used
        states[2 * n + 1] = used
      }
    }
    return states
  }

  /** Opens all cells that the request charges, and adds missing rows. */
  #roll(request: RowRequest, now: number): void {
    const rows = this.#rows
    for (let r = 0; r < rows.length; r++) if (this.#pages[r] === BLANK) this.#makeRoom(rows[r]!.table, now)
    for (let r = 0; r < rows.length; r++) {
      if (this.#pages[r] !== BLANK) continue
      const { table, layer } = rows[r]!
      const place = table.add(this.keyOf(layer, request.subject))
      this.#pages[r] = table.pageOf(place)
      this.#at[r] = table.at(place)
    }
    this.#eachCharged(request, (cells, i, at) => {
      this.#instant.roll(cells, i, at, request.quotas.rates)
      this.#states[2 * at] = cells[i]!
      this.#states[2 * at + 1] = cells[i + 1]!
    })
  }

  #makeRoom(table: RowTable, now: number): void {
    const max = this.#maxSubjects
    if (table.size < max) return
    table.sweep(now, SWEEP_WHEN_FULL)
    if (table.size < max) return
    throw new QuotaError('store_full', `the memory store holds ${max} live subjects (maxSubjects)`)
  }

  /** Leaves the current rows unchanged, except for starts too far ahead. @returns their states */
  #refused(request: RowRequest, now: number): WindowStates {
    if ((this.#said & AHEAD) === 0) return this.#states
    const { after } = this.#instant
    this.#eachCharged(request, (cells, i, at) => {
      if (cells !== BLANK) reanchor(cells, i, after[at]!, now)
    })
    return this.#states
  }

  /** Calls `visit` for each cell of the current rows that the request charges. `at` is its limit's position. */
  #eachCharged({ costs }: RowRequest, visit: (cells: Float64Array, i: number, at: number) => void): void {
    for (const [r, { limits, offsets }] of this.#rows.entries()) {
      for (const [c, at] of limits.entries()) {
        if (costs[this.layout.units[at]!]! > 0) visit(this.#pages[r]!, this.#at[r]! + offsets[c]!, at)
      }
    }
  }
}
