import type { WindowStates } from '../decision/decide.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { TakeRequest } from '../store/quota-store.ts'
import { layerKey, type StoreSchema, type Subject } from '../store/schema.ts'
import { Instant } from '../windows/instant.ts'
import { Layout } from '../windows/layout.ts'
import { reanchor, roll, usedIn, view } from '../windows/row.ts'
import { SLOTS } from '../windows/units.ts'
import { CLOSED, MAX_AHEAD_MS, MAX_USED } from '../windows/window.ts'
import { NOWHERE, type RowTable } from './row-table.ts'
import { TableView } from './table-view.ts'
import type { Tables } from './tables.ts'

/** Rows looked at before a full table refuses a new subject. */
const SWEEP_WHEN_FULL = 64

/** A row that never opened, standing in for those that are not there, whatever cells their tables have. */
const BLANK = new Float64Array(2 * 1_024).fill(CLOSED)

/** What is asked of rows: a request, or a part of it. */
export type RowRequest = Pick<TakeRequest, 'subject' | 'category' | 'quotas' | 'periods' | 'costs'>

/** What rows said; `stale`: the clock is outside of the request's periods. */
export interface RowReply {
  readonly outcome: 'admitted' | 'refused' | 'stale'
  readonly now: number
  readonly states: WindowStates
}

/** What a row has to say to a request. */
const USUAL = 0
const TO_ROLL = 1
const NO_ROOM = 2
/** A start is far ahead of the clock. */
const AHEAD = 4

/** The rows of one schema, asked and charged for one request at a time. */
export class RowDecisions {
  readonly layout: Layout
  readonly schema: StoreSchema
  readonly #tables: Tables
  readonly #maxSubjects: number
  /** One for each (layer, category), at `layer * categories + category`. */
  readonly #views: readonly TableView[]
  readonly #size: number
  readonly #units: readonly number[]
  /** Copied for each reply: copying an array of doubles is cheaper than growing one. */
  readonly #blanks: readonly number[][]
  /** Of the request at hand, one a layer: its view, the page that its row is in, where it begins, and what it says. */
  readonly #at: number[] = []
  readonly #pages: Float64Array[] = []
  readonly #instant: Instant
  readonly #cellCosts: Float64Array
  readonly #nothing: readonly number[]
  #costs: readonly number[] | undefined

  constructor(schema: StoreSchema, tables: Tables, maxSubjects: number) {
    this.schema = schema
    this.layout = new Layout(schema.cells)
    this.#tables = tables
    this.#maxSubjects = maxSubjects
    this.#size = this.layout.size
    this.#units = this.layout.units
    this.#instant = new Instant(this.layout)
    this.#cellCosts = new Float64Array(this.layout.size)
    this.#nothing = new Array<number>(schema.units.length + 1).fill(0)
    const names = [...schema.units, SLOTS]
    const cells = schema.cells.map((cell) => ({ ...cell, unit: names[cell.unit]! }))
    this.#views = schema.layers.flatMap((layer) =>
      schema.categories.map((category) => new TableView(this.#tables.of(layer.name, category), cells)),
    )
    this.#blanks = Array.from({ length: schema.layers.length + 1 }, (_, layers) =>
      Array.from({ length: this.layout.rowAt(layers) }, () => 0.5),
    )
  }

  /** Charged in every row, or in none; throws before it writes when there is no room for new rows. */
  decide(request: RowRequest, now: number): RowReply {
    const said = this.#look(request, now)
    if (said === USUAL) return { outcome: 'admitted', now, states: this.#charge(request, now) }
    if (said === undefined) return { outcome: 'stale', now, states: [] }
    if ((said & NO_ROOM) !== 0) return { outcome: 'refused', now, states: this.#refuse(request, said, now) }
    this.#roll(request, now)
    return { outcome: 'admitted', now, states: this.#charge(request, now) }
  }

  /** Charges whatever the limits. */
  force(request: RowRequest, now: number): RowReply {
    if (this.#look(request, now) === undefined) return { outcome: 'stale', now, states: [] }
    this.#roll(request, now)
    return { outcome: 'admitted', now, states: this.#charge(request, now) }
  }

  /** What fits into every window of each unit that costs something, 0 or more; `undefined`: the clock is outside of the periods. */
  room(request: RowRequest, now: number): readonly number[] | undefined {
    if (this.#look(request, now) === undefined) return undefined
    const { limits, layers } = request.quotas
    const room = request.costs.map(() => Number.POSITIVE_INFINITY)
    this.#eachCell(request, layers.length, (cells, i, at, c) => {
      const unit = this.#units[c]!
      room[unit] = Math.max(0, Math.min(room[unit]!, limits[at]! - usedIn(cells, i, this.#instant.after[at]!)))
    })
    return room
  }

  /** The states of rows as they are; `undefined`: the clock is outside of the periods. */
  look({ subject, category, quotas, periods }: Omit<RowRequest, 'costs'>, now: number): WindowStates | undefined {
    const asked = { subject, category, quotas, periods, costs: this.#nothing }
    return this.#look(asked, now) === undefined ? undefined : this.#view(asked, now)
  }

  /** Calls for the windows (and slots) of the rows that are there. */
  change(
    { subject, category, layers }: { subject: Subject; category: number; layers: readonly number[] },
    change: (cells: Float64Array, i: number, at: number, cell: number) => void,
  ): void {
    for (const [slot, layer] of layers.entries()) {
      const { table, offsets } = this.viewOf(layer, category)
      const place = table.placeOf(this.keyOf(layer, subject))
      if (place === NOWHERE) continue
      for (let c = 0; c < this.#size; c++) {
        change(table.pageOf(place), table.at(place) + offsets[c]!, slot * this.#size + c, c)
      }
    }
  }

  /** The table of a layer and category, as the schema sees it. */
  viewOf(layer: number, category: number): TableView {
    return this.#views[layer * this.schema.categories.length + category]!
  }

  keyOf(layer: number, subject: Subject): string {
    return layerKey(this.schema.layers[layer]!, subject)
  }

  /** Finds the rows of a request and what they say; `undefined`: the clock is outside of the periods. */
  #look({ subject, category, quotas, costs, periods }: RowRequest, now: number): number | undefined {
    const { layers, limits } = quotas
    if (!this.#instant.moveTo(now, periods, layers.length)) return undefined
    const views = this.#views
    const { categories, layers: all } = this.schema
    const cellCosts = this.#cellCosts
    if (costs !== this.#costs) this.#spread(costs)
    const size = cellCosts.length
    const { after } = this.#instant
    let said = USUAL
    for (let l = 0; l < layers.length; l++) {
      const layer = layers[l]!
      const view = views[layer * categories.length + category]!
      const { table, offsets } = view
      const { shared, name } = all[layer]!
      const place = table.placeOf(shared ? '' : typeof subject === 'string' ? subject : subject[name]!)
      let cells: Float64Array = BLANK
      let at = 0
      if (place !== NOWHERE) {
        cells = table.pageOf(place)
        at = table.at(place)
      }
      this.#pages[l] = cells
      this.#at[l] = at
      const from = l * size
      for (let c = 0; c < size; c++) {
        const cost = cellCosts[c]!
        if (cost === 0) continue
        const i = at + offsets[c]!
        const startedAt = cells[i]!
        let used = cells[i + 1]!
        if (used === CLOSED || startedAt <= after[from + c]! || startedAt - now > MAX_AHEAD_MS) {
          said |= TO_ROLL
          if (used === CLOSED || startedAt <= after[from + c]!) used = 0
          if (startedAt - now > MAX_AHEAD_MS) said |= AHEAD
        }
        if (used + cost > limits[from + c]!) said |= NO_ROOM
      }
    }
    return said
  }

  /** What a request costs in each cell. The same list for all requests of one price, so that this is done once for them. */
  #spread(costs: readonly number[]): void {
    for (let c = 0; c < this.#size; c++) this.#cellCosts[c] = costs[this.#units[c]!]!
    this.#costs = costs
  }

  /** Makes every cell that a request costs something of one that is open, and rows that there are not. */
  #roll(request: RowRequest, now: number): void {
    const { category, subject, costs, quotas } = request
    const { layers } = quotas
    if (costs.every((cost) => cost === 0)) return
    for (let l = 0; l < layers.length; l++) {
      if (this.#pages[l] === BLANK) this.#makeRoom(this.viewOf(layers[l]!, category).table, now)
    }
    for (let l = 0; l < layers.length; l++) {
      if (this.#pages[l] !== BLANK) continue
      const { table } = this.viewOf(layers[l]!, category)
      const place = table.add(this.keyOf(layers[l]!, subject))
      this.#pages[l] = table.pageOf(place)
      this.#at[l] = table.at(place)
    }
    this.#eachCell(request, layers.length, (cells, i, at) =>
      roll(cells, i, this.#instant.after[at]!, this.#instant.opensAt[at]!, now),
    )
  }

  #makeRoom(table: RowTable, now: number): void {
    const max = this.#maxSubjects
    if (table.size < max) return
    table.sweep(now, SWEEP_WHEN_FULL)
    if (table.size < max) return
    throw new QuotaError('store_full', `the memory store holds ${max} live subjects (maxSubjects)`)
  }

  /** Leaves the rows at hand as they are, but for starts in the far future; their states. */
  #refuse(request: RowRequest, said: number, now: number): WindowStates {
    const { layers } = request.quotas
    if ((said & AHEAD) !== 0) {
      this.#eachCell(request, layers.length, (cells, i, at) => {
        if (cells !== BLANK) reanchor(cells, i, this.#instant.after[at]!, now)
      })
    }
    return this.#view(request, now)
  }

  /** Charges the rows at hand, whose cells are open; their states thereafter. */
  #charge({ category, quotas: { layers } }: RowRequest, now: number): WindowStates {
    const states = this.#blanks[layers.length]!.slice()
    const views = this.#views
    const categories = this.schema.categories.length
    const cellCosts = this.#cellCosts
    const size = cellCosts.length
    for (let l = 0; l < layers.length; l++) {
      const { offsets } = views[layers[l]! * categories + category]!
      const cells = this.#pages[l]!
      const at = this.#at[l]!
      const from = l * size
      for (let c = 0; c < size; c++) {
        const cost = cellCosts[c]!
        const i = at + offsets[c]!
        const to = 2 * (from + c)
        if (cost === 0) {
          view(cells, i, this.#instant.after[from + c]!, now, states, to)
          continue
        }
        const used = Math.min(cells[i + 1]! + cost, MAX_USED)
        cells[i + 1] = used
        states[to] = cells[i]!
        states[to + 1] = used
      }
    }
    return states
  }

  /** The states of the rows at hand. */
  #view({ category, quotas: { layers } }: RowRequest, now: number): WindowStates {
    const states = this.#blanks[layers.length]!.slice()
    const { after } = this.#instant
    const views = this.#views
    const categories = this.schema.categories.length
    const size = this.#size
    for (let l = 0; l < layers.length; l++) {
      const { offsets } = views[layers[l]! * categories + category]!
      const cells = this.#pages[l]!
      const at = this.#at[l]!
      const from = l * size
      for (let c = 0; c < size; c++) {
        const i = at + offsets[c]!
        const to = 2 * (from + c)
        const startedAt = cells[i]!
        const used = cells[i + 1]!
        if (used !== CLOSED && startedAt > after[from + c]! && startedAt - now <= MAX_AHEAD_MS) {
          states[to] = startedAt
          states[to + 1] = used
        } else view(cells, i, after[from + c]!, now, states, to)
      }
    }
    return states
  }

  /** Calls for every cell of the rows at hand that the request costs something of; `at` is its place among the limits. */
  #eachCell(
    { category, costs, quotas }: RowRequest,
    layers: number,
    visit: (cells: Float64Array, i: number, at: number, cell: number) => void,
  ): void {
    for (let l = 0; l < layers; l++) {
      const { offsets } = this.viewOf(quotas.layers[l]!, category)
      for (let c = 0; c < this.#size; c++) {
        if (costs[this.#units[c]!]! > 0) visit(this.#pages[l]!, this.#at[l]! + offsets[c]!, l * this.#size + c, c)
      }
    }
  }
}
