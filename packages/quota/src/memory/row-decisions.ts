import type { WindowStates } from '../decision/decide.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { TakeRequest } from '../store/quota-store.ts'
import { keyName, type LayerSchema, layerKey, type StoreSchema, type SubjectKeys } from '../store/subjects.ts'
import { SLOTS } from '../windows/identity.ts'
import { Instant, type Layout, layoutOf, nth } from '../windows/layout.ts'
import {
  CLOSED,
  cameBack,
  countIn,
  isFull,
  MAX_AHEAD_MS,
  MAX_USED,
  NOT_OPEN,
  reanchor,
  startIn,
  view,
} from '../windows/row.ts'
import { NOWHERE, type RowTable, type Tables } from './row-table.ts'

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
  readonly name: string
  readonly table: RowTable
  readonly shared: boolean
  /** The member of a subject that is its key. */
  readonly by: string
  readonly cells: readonly CountedCell[]
}

/** A cell that a set of limits counts in. */
interface CountedCell {
  /** Its limit's position. */
  readonly at: number
  /** The amount that it counts: an index of a request's costs. */
  readonly unit: number
  /** Where it is in the table's rows. */
  readonly offset: number
}

/** A layer's table as the schema sees it. */
interface TableView {
  readonly table: RowTable
  /** Where the schema's cells are in the table's rows. */
  readonly places: readonly number[]
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
      const table = tables.of(name)
      return { table, places: table.placesOf(cells.map((cell) => ({ ...cell, unit: nth(names, cell.unit) }))) }
    })
    this.#counted = this.layout.counted.map((byLayer) =>
      byLayer.flatMap((limits, layer) => {
        const { table } = this.viewOf(layer)
        const of = this.#layerOf(layer)
        const cells = limits.map((at) => ({ at, unit: this.layout.cellAt(at).unit, offset: this.#offsetOf(at) }))
        return cells.length === 0 ? [] : [{ layer, name: of.name, table, shared: of.shared, by: keyName(of), cells }]
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
    this.#eachCharged(request, (_, __, { at, unit }) => {
      const left = limits[at]! - this.layout.usedAt(this.#states, at, rates, now)
      room[unit] = Math.max(0, Math.min(room[unit]!, left))
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
      const { layer } = this.layout.cellAt(at)
      const { table } = this.viewOf(layer)
      if (layer !== known) place = table.placeOf(this.keyOf(layer, subject))
      known = layer
      if (place !== NOWHERE) visit(table.pageOf(place), table.at(place) + this.#offsetOf(at), at)
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
    return layerKey(this.#layerOf(layer), subject)
  }

  #layerOf(layer: number): LayerSchema {
    return this.schema.layers[layer]!
  }

  /** Returns where a limit's cell is in its table's rows. */
  #offsetOf(at: number): number {
    const { layer, cell } = this.layout.cellAt(at)
    return 2 * this.viewOf(layer).places[cell]!
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
    const states = this.layout.blank.slice()
    let said = USUAL
    this.#rows = rows
    this.#states = states
    for (let r = 0; r < rows.length; r++) {
      const { table, shared, by, cells: counted } = rows[r]!
      const own = typeof subject === 'string' ? subject : subject[by]!
      const place = shared ? table.shared : table.placeOf(own)
      const cells = place === NOWHERE ? BLANK : table.pageOf(place)
      const at = place === NOWHERE ? 0 : table.at(place)
      pages[r] = cells
      places[r] = at
      for (const { at: n, unit, offset } of counted) {
        const i = at + offset
        const startedAt = cells[i]!
        let used = cells[i + 1]!
        const cost = costs[unit]!
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
    const [start, used] = [startIn(this.#states, 2 * n), countIn(this.#states, 2 * n)]
    const { perMs } = this.layout.cellAt(n)
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
    const states = this.#states
    // Loops of its own, like those of `#read`: through `#eachCharged`, an admission takes a fifth longer.
    for (let r = 0; r < this.#rows.length; r++) {
      const [page, start] = [this.#pages[r]!, this.#at[r]!]
      for (const { at, unit, offset } of this.#rows[r]!.cells) {
        const cost = costs[unit]!
        if (cost === 0) continue
        const used = Math.min(states[2 * at + 1]! + cost, MAX_USED)
        page[start + offset + 1] = used
        states[2 * at + 1] = used
      }
    }
    return states
  }

  /** Opens all cells that the request charges, and adds missing rows. */
  #roll(request: RowRequest, now: number): void {
    for (const [r, { table }] of this.#rows.entries()) if (this.#pages[r] === BLANK) this.#makeRoom(table, now)
    for (const [r, { table, layer }] of this.#rows.entries()) {
      if (this.#pages[r] !== BLANK) continue
      const place = table.add(this.keyOf(layer, request.subject))
      this.#pages[r] = table.pageOf(place)
      this.#at[r] = table.at(place)
    }
    this.#eachCharged(request, (cells, i, { at }) => {
      this.#instant.roll(cells, i, at, request.quotas.rates)
      this.#states[2 * at] = startIn(cells, i)
      this.#states[2 * at + 1] = countIn(cells, i)
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
    this.#eachCharged(request, (cells, i, { at }) => {
      if (cells !== BLANK) reanchor(cells, i, after[at]!, now)
    })
    return this.#states
  }

  /** Calls `visit` for each cell of the current rows that the request charges, with where its pair is in its page. */
  #eachCharged({ costs }: RowRequest, visit: (cells: Float64Array, i: number, counted: CountedCell) => void): void {
    for (const [r, { cells }] of this.#rows.entries()) {
      const [page, at] = [this.#pages[r]!, this.#at[r]!]
      for (const counted of cells) if (costs[counted.unit]! > 0) visit(page, at + counted.offset, counted)
    }
  }
}
