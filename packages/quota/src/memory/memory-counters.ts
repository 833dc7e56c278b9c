import type { WindowStates } from '../decision/decide.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type {
  ReadReply,
  ReadRequest,
  ReservationId,
  ResetRequest,
  SettleRequest,
  SyncCounters,
  TakeReply,
  TakeRequest,
} from '../store/quota-store.ts'
import { idOwnerKey, layerKey, type StoreSchema, type Subject } from '../store/schema.ts'
import { type Clock, instantOf } from '../time/clock.ts'
import { Layout } from '../windows/layout.ts'
import { chargeAndView, close, closedRow, fits, reanchor, refund, viewRow } from '../windows/row.ts'
import type { IdRecords } from './id-records.ts'
import type { Row } from './row-table.ts'
import { TableView } from './table-view.ts'
import type { Tables } from './tables.ts'

/** Rows looked at before a full table refuses a new subject. */
const SWEEP_WHEN_FULL = 64

/** One decision in so many forgets a little of what has ended. */
const DECISIONS_PER_STEP = 8

/** What the counters of every schema on one store share. */
export interface MemoryShared {
  readonly clock: Clock
  readonly maxSubjects: number
  readonly maxIds: number
  readonly tables: Tables
  readonly ids: IdRecords
}

/** The counters of one schema in a memory store. */
export class MemoryCounters implements SyncCounters {
  readonly #shared: MemoryShared
  readonly #schema: StoreSchema
  readonly #layout: Layout
  /** One for each (layer, category), at `layer * categories + category`. */
  readonly #views: readonly TableView[]
  /** Whether rows are used as they are in every table: see {@link TableView.isStraight}. */
  readonly #isStraight: boolean
  /** A row that never opened, standing in for the rows that are not there. */
  readonly #blank: Row
  /** Copied for each reply: copying an array of doubles is cheaper than growing one. */
  readonly #statesByLayers: readonly number[][]
  /** The rows of the request at hand, one a layer. */
  readonly #rows: (Row | undefined)[] = []
  #decisions = 0

  constructor(shared: MemoryShared, schema: StoreSchema) {
    this.#shared = shared
    this.#schema = schema
    this.#layout = new Layout(schema.windows)
    this.#views = schema.layers.flatMap((layer) =>
      schema.categories.map((category) => new TableView(shared.tables.of(layer.name, category), this.#layout)),
    )
    this.#isStraight = this.#views.every(({ isStraight }) => isStraight)
    this.#blank = closedRow(this.#layout.width)
    this.#statesByLayers = Array.from({ length: schema.layers.length + 1 }, (_, layers) =>
      Array.from({ length: this.#layout.rowAt(layers) }, () => 0.5),
    )
  }

  take(request: TakeRequest): TakeReply {
    const now = instantOf(this.#shared.clock)
    const reply = request.id === undefined ? this.#take(request, now) : this.#takeOnce(request, request.id, now)
    this.#sweep(now)
    return reply
  }

  #take(request: TakeRequest, now: number): TakeReply {
    const { subject, category, cost } = request
    const { layers, limits } = request.quotas
    const layout = this.#layout
    const rows = this.#rows
    let admitted = true
    let missing = false
    for (let l = 0; l < layers.length; l++) {
      const row = this.#find(layers[l]!, category, subject)
      rows[l] = row
      if (row === undefined) missing = true
      if (!fits(row ?? this.#blank, 0, layout.lengthsMs, limits, layout.limitAt(l, 0), cost, now)) admitted = false
    }
    if (cost === 0) return { outcome: 'admitted', now, states: this.#view(layers.length, now) }
    if (!admitted) return { outcome: 'refused', now, states: this.#refuse(request, now) }
    if (missing) this.#addRows(request, now)
    return { outcome: 'admitted', now, states: this.#charge(request, now) }
  }

  /** Leaves the rows in `#rows` as they are, but for starts in the far future; their states. */
  #refuse({ subject, category, quotas: { layers } }: TakeRequest, now: number): WindowStates {
    for (let l = 0; l < layers.length; l++) {
      const row = this.#rows[l]
      if (row !== undefined) reanchor(row, 0, this.#layout.width, now)
    }
    if (!this.#isStraight) this.#putBack(layers, category, subject)
    return this.#view(layers.length, now)
  }

  /** Adds the rows that are missing in `#rows`; throws before it writes when there is no room. */
  #addRows({ subject, category, quotas: { layers } }: TakeRequest, now: number): void {
    for (let l = 0; l < layers.length; l++) {
      if (this.#rows[l] === undefined) this.#makeRoom(this.#viewOf(layers[l]!, category), now)
    }
    for (let l = 0; l < layers.length; l++) {
      this.#rows[l] ??= this.#viewOf(layers[l]!, category).add(this.#keyOf(layers[l]!, subject))
    }
  }

  #makeRoom({ table }: TableView, now: number): void {
    const { maxSubjects } = this.#shared
    if (table.size < maxSubjects) return
    table.sweep(now, SWEEP_WHEN_FULL)
    if (table.size < maxSubjects) return
    throw new QuotaError('store_full', `the memory store holds ${maxSubjects} live subjects (maxSubjects)`)
  }

  /** Charges the rows in `#rows`; their states thereafter. */
  #charge({ subject, category, cost, quotas: { layers } }: TakeRequest, now: number): WindowStates {
    const layout = this.#layout
    const rows = this.#rows
    const states = this.#statesByLayers[layers.length]!.slice()
    for (let l = 0; l < layers.length; l++) {
      chargeAndView(rows[l]!, 0, layout.lengthsMs, cost, now, states, layout.rowAt(l))
    }
    if (!this.#isStraight) this.#putBack(layers, category, subject)
    return states
  }

  /**
   * Forgets a little of what has ended, as a part of every few decisions, however they came out. In every table: one that
   * is asked no more, or by every eighth decision alone, has ended rows as well.
   */
  #sweep(now: number): void {
    this.#decisions++
    if (this.#decisions % DECISIONS_PER_STEP !== 0) return
    this.#shared.tables.step(now)
    this.#shared.ids.step(now)
  }

  /** The states of the rows in `#rows`. */
  #view(layers: number, now: number): WindowStates {
    const layout = this.#layout
    const states = this.#statesByLayers[layers]!.slice()
    for (let l = 0; l < layers; l++) {
      viewRow(this.#rows[l] ?? this.#blank, 0, layout.lengthsMs, now, states, layout.rowAt(l))
    }
    return states
  }

  #takeOnce(request: TakeRequest, id: ReservationId, now: number): TakeReply {
    const { ids, maxIds } = this.#shared
    const key = this.#idKey(request.subject, request.category, id)
    const record = ids.find(key, now)
    if (record === undefined) {
      if (!ids.hasRoom(maxIds, now)) {
        throw new QuotaError('store_full', `the memory store holds ${maxIds} live ids (maxIds)`)
      }
      const reply = this.#take(request, now)
      if (reply.outcome === 'admitted') ids.write(key, id, 'reserved', reply.states, now)
      return reply
    }
    if (record.fingerprint !== id.fingerprint) return { outcome: 'conflict', now, states: [] }
    if (record.state === 'cancelled') return { outcome: 'cancelled', now, states: [] }
    if (record.nonce !== id.nonce) return { outcome: 'duplicate', now, states: [] }
    return { outcome: 'admitted', now, states: record.states }
  }

  read({ subject, categories, layers }: ReadRequest): ReadReply {
    const now = instantOf(this.#shared.clock)
    const states = categories.map((category) => {
      this.#locate(layers, category, subject)
      return this.#view(layers.length, now)
    })
    return { now, states }
  }

  settle(request: SettleRequest): void {
    const { subject, category, layers, states, giveBack, id } = request
    if (id !== undefined && !this.#settleOnce(request, id)) return
    if (giveBack === 0) return
    const layout = this.#layout
    const startedAts = layout.startsOf(states)
    this.#change(layers, category, subject, (row, l) =>
      refund(row, 0, layout.width, startedAts, layout.limitAt(l, 0), giveBack),
    )
  }

  /** Marks an id settled; whether it was this nonce's to settle, and still open. */
  #settleOnce({ subject, category, as }: SettleRequest, id: ReservationId): boolean {
    const { ids } = this.#shared
    const now = instantOf(this.#shared.clock)
    const key = this.#idKey(subject, category, id)
    const record = ids.find(key, now)
    // A cancel that overtook its reserve: the id is marked, so that the reserve cannot charge when it arrives.
    if (record === undefined && as === 'cancelled') ids.write(key, id, 'cancelled', [], now)
    if (record?.state !== 'reserved' || record.nonce !== id.nonce) return false
    ids.write(key, id, as, record.states, now)
    return true
  }

  reset({ subject, categories, layers }: ResetRequest): void {
    for (const category of categories) {
      this.#change(layers, category, subject, (row) => close(row, 0, this.#layout.width))
    }
  }

  /** Changes the rows that are there. */
  #change(
    layers: readonly number[],
    category: number,
    subject: Subject,
    change: (row: Row, slot: number) => void,
  ): void {
    this.#locate(layers, category, subject)
    for (let l = 0; l < layers.length; l++) {
      const row = this.#rows[l]
      if (row !== undefined) change(row, l)
    }
    if (!this.#isStraight) this.#putBack(layers, category, subject)
  }

  /** Rows of tables that are not straight are copies. */
  #putBack(layers: readonly number[], category: number, subject: Subject): void {
    for (let l = 0; l < layers.length; l++) {
      const row = this.#rows[l]
      const view = this.#viewOf(layers[l]!, category)
      if (row !== undefined && !view.isStraight) view.put(this.#keyOf(layers[l]!, subject), row)
    }
  }

  #locate(layers: readonly number[], category: number, subject: Subject): void {
    for (let l = 0; l < layers.length; l++) this.#rows[l] = this.#find(layers[l]!, category, subject)
  }

  #find(layer: number, category: number, subject: Subject): Row | undefined {
    return this.#viewOf(layer, category).find(this.#keyOf(layer, subject))
  }

  #viewOf(layer: number, category: number): TableView {
    return this.#views[layer * this.#schema.categories.length + category]!
  }

  #keyOf(layer: number, subject: Subject): string {
    return layerKey(this.#schema.layers[layer]!, subject)
  }

  /** JSON, so that no two (category, subject, id) share a key whatever characters they hold. */
  #idKey(subject: Subject, category: number, { id }: ReservationId): string {
    return JSON.stringify([this.#schema.categories[category], idOwnerKey(this.#schema, subject), id])
  }
}
