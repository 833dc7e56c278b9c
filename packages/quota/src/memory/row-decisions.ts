import type { WindowStates } from '../decision/decide.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { TakeRequest } from '../store/quota-store.ts'
import { layerKey, type StoreSchema, type Subject } from '../store/schema.ts'
import { Layout, type Spans } from '../windows/layout.ts'
import { chargeAndView, fits, reanchor, roomIn, viewRow } from '../windows/row.ts'
import { slotFits, takeSlot, viewSlots } from '../windows/slots.ts'
import { OpenRows } from './open-rows.ts'
import { blankRow, PAIRS, type Row } from './row-table.ts'
import { TableView } from './table-view.ts'
import type { Tables } from './tables.ts'

/** Rows looked at before a full table refuses a new subject. */
const SWEEP_WHEN_FULL = 64

/** What is asked of rows: a request, or a part of it. */
export type RowRequest = Pick<TakeRequest, 'subject' | 'category' | 'quotas' | 'cost' | 'periods' | 'hold'>

/** What rows said; `stale`: the clock is outside of the request's periods. */
export interface RowReply {
  readonly outcome: 'admitted' | 'refused' | 'stale'
  readonly now: number
  readonly states: WindowStates
}

/** The rows of one schema, asked and charged for one request at a time. */
export class RowDecisions {
  readonly layout: Layout
  readonly schema: StoreSchema
  readonly open: OpenRows
  readonly #tables: Tables
  readonly #maxSubjects: number
  /** One for each (layer, category), at `layer * categories + category`. */
  readonly #views: readonly TableView[]
  /** A row that never opened, standing in for the rows that are not there. */
  readonly #blank: Row
  /** Copied for each reply: copying an array of doubles is cheaper than growing one. */
  readonly #statesByLayers: readonly number[][]
  /** Copies of the rows of the request at hand, one a layer, and what lasts how long in them. */
  readonly #rows: (Row | undefined)[] = []
  readonly #spans: Spans[] = []
  #isMissing = false
  /** Where no window is of the calendar: the same at every instant. */
  readonly #lasting: Spans | undefined

  constructor(schema: StoreSchema, tables: Tables, maxSubjects: number) {
    this.schema = schema
    this.layout = new Layout(schema.cells)
    this.#tables = tables
    this.#maxSubjects = maxSubjects
    this.#views = schema.layers.flatMap((layer) =>
      schema.categories.map((category) => new TableView(this.#tables.of(layer.name, category), this.layout)),
    )
    this.open = new OpenRows(schema, this.layout, this.#views, maxSubjects)
    this.#blank = blankRow(this.layout.size)
    this.#statesByLayers = Array.from({ length: schema.layers.length + 1 }, (_, layers) =>
      Array.from({ length: this.layout.rowAt(layers) }, () => 0.5),
    )
    this.#lasting = this.layout.calendars.length === 0 ? this.layout.spansAt(0, undefined, 0) : undefined
  }

  /** Charged in every row, or in none; throws before it writes when there is no room for new rows. */
  decide(request: RowRequest, now: number): RowReply {
    const { cost, hold, quotas } = request
    const slot = hold?.slot === true
    const { length } = quotas.layers
    if (!this.#locate(request, now)) return { outcome: 'stale', now, states: [] }
    if (cost === 0 && !slot) return { outcome: 'admitted', now, states: this.#view(length, now) }
    if (!this.#fits(quotas, cost, slot, now)) return { outcome: 'refused', now, states: this.#refuse(request, now) }
    this.#addRows(request, now)
    return { outcome: 'admitted', now, states: this.#charge(request, now) }
  }

  /** Charges whatever the limits. */
  force(request: RowRequest, now: number): RowReply {
    const { layers } = request.quotas
    if (!this.#locate(request, now)) return { outcome: 'stale', now, states: [] }
    if (request.cost === 0) return { outcome: 'admitted', now, states: this.#view(layers.length, now) }
    this.#addRows(request, now)
    return { outcome: 'admitted', now, states: this.#charge(request, now) }
  }

  /** Tokens that fit into every window, 0 or more; `undefined`: the clock is outside of the periods. */
  room(request: RowRequest, now: number): number | undefined {
    if (!this.#locate(request, now)) return undefined
    const { layers, limits } = request.quotas
    let room = Number.POSITIVE_INFINITY
    for (let l = 0; l < layers.length; l++) {
      const cells = this.#rows[l] ?? this.#blank
      room = Math.min(room, roomIn(cells, PAIRS, this.#spans[l]!, limits, this.layout.limitAt(l, 0), now))
    }
    return Math.max(0, room)
  }

  /** The states of rows as they are; `undefined`: the clock is outside of the periods. */
  look(
    request: Pick<RowRequest, 'subject' | 'category' | 'quotas' | 'periods'>,
    now: number,
  ): WindowStates | undefined {
    return this.#locate(request, now) ? this.#view(request.quotas.layers.length, now) : undefined
  }

  /** Changes the rows that are there. */
  change(
    { subject, category, layers }: { subject: Subject; category: number; layers: readonly number[] },
    change: (row: Row, slot: number) => void,
  ): void {
    for (const [slot, layer] of layers.entries()) {
      const view = this.#viewOf(layer, category)
      const key = this.keyOf(layer, subject)
      const row = view.find(key)
      if (row === undefined) continue
      change(row, slot)
      view.put(key, row)
    }
  }

  /** The table of a layer and category, as the schema sees it. */
  viewOf(layer: number, category: number): TableView {
    return this.#viewOf(layer, category)
  }

  keyOf(layer: number, subject: Subject): string {
    return layerKey(this.schema.layers[layer]!, subject)
  }

  /** Whether the rows at hand have room in every one of them. */
  #fits({ layers, limits }: RowRequest['quotas'], cost: number, slot: boolean, now: number): boolean {
    const layout = this.layout
    for (let l = 0; l < layers.length; l++) {
      const cells = this.#rows[l] ?? this.#blank
      if (cost > 0 && !fits(cells, PAIRS, this.#spans[l]!, limits, layout.limitAt(l, 0), cost, now)) return false
      if (slot && !slotFits(cells, PAIRS + 2 * layout.width, limits[layout.limitAt(l, layout.width)]!)) return false
    }
    return true
  }

  /** Finds the rows of a request and their spans; `false`: the clock is outside of the periods. */
  #locate({ subject, category, quotas: { layers }, periods }: Omit<RowRequest, 'cost'>, now: number): boolean {
    this.#isMissing = false
    for (let l = 0; l < layers.length; l++) {
      const row = this.#viewOf(layers[l]!, category).find(this.keyOf(layers[l]!, subject))
      this.#rows[l] = row
      if (row === undefined) this.#isMissing = true
      const spans = this.#lasting ?? this.layout.spansAt(now, periods, l)
      if (spans === undefined) return false
      this.#spans[l] = spans
    }
    return true
  }

  /** Leaves the rows at hand as they are, but for starts in the far future; their states. */
  #refuse({ subject, category, cost, quotas: { layers } }: RowRequest, now: number): WindowStates {
    for (let l = 0; l < layers.length; l++) {
      const row = this.#rows[l]
      if (row !== undefined && cost > 0) reanchor(row, PAIRS, this.layout.width, now)
    }
    this.#putBack(layers, category, subject)
    return this.#view(layers.length, now)
  }

  /** Adds the rows that are missing; throws before it writes when there is no room. */
  #addRows({ category, quotas: { layers } }: RowRequest, now: number): void {
    if (!this.#isMissing) return
    for (let l = 0; l < layers.length; l++) {
      if (this.#rows[l] === undefined) this.#makeRoom(this.#viewOf(layers[l]!, category), now)
    }
    for (let l = 0; l < layers.length; l++) this.#rows[l] ??= this.#viewOf(layers[l]!, category).blank()
  }

  #makeRoom({ table }: TableView, now: number): void {
    const max = this.#maxSubjects
    if (table.size < max) return
    table.sweep(now, SWEEP_WHEN_FULL)
    if (table.size < max) return
    throw new QuotaError('store_full', `the memory store holds ${max} live subjects (maxSubjects)`)
  }

  /** Charges the rows at hand; their states thereafter. */
  #charge({ subject, category, cost, hold, quotas: { layers } }: RowRequest, now: number): WindowStates {
    const layout = this.layout
    const rows = this.#rows
    const states = this.#statesByLayers[layers.length]!.slice()
    for (let l = 0; l < layers.length; l++) {
      const row = rows[l]!
      const spans = this.#spans[l]!
      if (cost > 0) chargeAndView(row, PAIRS, spans, cost, now, states, layout.rowAt(l))
      else viewRow(row, PAIRS, spans, now, states, layout.rowAt(l))
      if (layout.hasSlots) {
        if (hold?.slot === true) takeSlot(row, PAIRS + 2 * layout.width, now)
        viewSlots(row, PAIRS + 2 * layout.width, states, layout.cellAt(l, layout.width))
      }
    }
    this.#putBack(layers, category, subject)
    return states
  }

  /** The states of the rows at hand. */
  #view(layers: number, now: number): WindowStates {
    const layout = this.layout
    const states = this.#statesByLayers[layers]!.slice()
    for (let l = 0; l < layers; l++) {
      const row = this.#rows[l] ?? this.#blank
      viewRow(row, PAIRS, this.#spans[l]!, now, states, layout.rowAt(l))
      if (layout.hasSlots) viewSlots(row, PAIRS + 2 * layout.width, states, layout.cellAt(l, layout.width))
    }
    return states
  }

  /** The rows at hand are those of the tables from now on. */
  #putBack(layers: readonly number[], category: number, subject: Subject): void {
    for (let l = 0; l < layers.length; l++) {
      const row = this.#rows[l]
      if (row !== undefined) this.#viewOf(layers[l]!, category).put(this.keyOf(layers[l]!, subject), row)
    }
  }

  #viewOf(layer: number, category: number): TableView {
    return this.#views[layer * this.schema.categories.length + category]!
  }
}
