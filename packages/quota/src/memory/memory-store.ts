import type { WindowStates } from '../decision/decide.ts'
import { faultyDocument, QuotaError } from '../errors/quota-error.ts'
import {
  layerKey,
  type QuotaStore,
  type ReadReply,
  type ReadRequest,
  type ReservationId,
  type ResetRequest,
  type SettleRequest,
  type StoreSchema,
  type Subject,
  type TakeReply,
  type TakeRequest,
} from '../store/quota-store.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import { chargeAndView, close, closedRow, fits, reanchor, refund, viewRow } from '../windows/row.ts'
import { IdRecords } from './id-records.ts'
import { type MemoryStoreOptions, parseMemoryStoreOptions } from './options.ts'
import { type Row, RowTable } from './row-table.ts'
import { parseSnapshotPart, SNAPSHOT_PART_ROWS, type SnapshotPart } from './snapshot.ts'

/** Rows looked at, for each row added, to find ended ones; two keep the table at most twice what is live. */
const SWEEP_PER_ADDED = 2
/** Rows looked at before a full table refuses a new subject. */
const SWEEP_WHEN_FULL = 64
/** One charge in this many looks for ended rows, so that a store with no new subjects shrinks too. */
const CHARGES_PER_SWEEP = 16

/** A {@link QuotaStore} in the memory of one process, which answers at once and can be saved. */
export interface MemoryStore extends QuotaStore {
  readonly sync: true
  take(request: TakeRequest): TakeReply
  read(request: ReadRequest): ReadReply
  settle(request: SettleRequest): void
  reset(request: ResetRequest): void
  /** Rows held: one for each layer, subject and category that has a window open. */
  readonly size: number
  /**
   * Everything that is live, in parts of at most 1,000 rows. Each part is plain JSON, made when it is asked for, so
   * that a large store can be saved without a pause.
   */
  snapshot(): Generator<SnapshotPart>
  /**
   * Takes over what a snapshot's part holds. Rows that are here already stay as they are; ended ones are left out.
   * @throws {QuotaError} `store_mismatch` for a snapshot of other windows, categories or layers
   */
  restore(part: unknown): void
}

/**
 * Counters in memory: no timers, and nothing live is ever dropped. Ended counters are forgotten in small steps while
 * the store is used. With {@link MemoryStoreOptions.maxSubjects} live subjects in a layer, new ones get `store_full`,
 * which the engine answers by its failure policy.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { clock, maxSubjects, maxIds } = parseMemoryStoreOptions(options)
  return new Store(clock ?? systemClock, maxSubjects, maxIds)
}

class Store implements MemoryStore {
  readonly sync = true
  readonly #clock: Clock
  readonly #maxSubjects: number
  readonly #maxIds: number
  readonly #ids = new IdRecords()
  #schema: StoreSchema = { windows: [], categories: [], layers: [] }
  #fingerprint = ''
  #lengthsMs: number[] = []
  /** One table for each (layer, category), at `layer * categories + category`. */
  #tables: RowTable[] = []
  /** A row that never opened, standing in for the rows that are not there. */
  #blank: Row = []
  /** Copied for each reply: copying an array of doubles is cheaper than growing one. */
  #statesByLayers: number[][] = []
  /** The rows of the request at hand, one a layer. */
  readonly #rows: (Row | undefined)[] = []
  #charges = 0

  constructor(clock: Clock, maxSubjects: number, maxIds: number) {
    this.#clock = clock
    this.#maxSubjects = maxSubjects
    this.#maxIds = maxIds
  }

  get size(): number {
    return this.#tables.reduce((sum, table) => sum + table.size, 0)
  }

  attach(schema: StoreSchema): void {
    const fingerprint = JSON.stringify([schema.windows, schema.categories, schema.layers])
    if (this.#fingerprint === fingerprint) return
    if (this.#fingerprint !== '') {
      const message = 'this memory store already serves a policy with other windows, categories or layers'
      throw new QuotaError('store_mismatch', message)
    }
    this.#fingerprint = fingerprint
    this.#schema = schema
    this.#lengthsMs = schema.windows.map(({ lengthMs }) => lengthMs)
    this.#tables = schema.layers.flatMap((layer) => schema.categories.map(() => new RowTable(this.#lengthsMs, layer)))
    this.#blank = closedRow(schema.windows.length)
    this.#statesByLayers = Array.from({ length: schema.layers.length + 1 }, (_, layers) =>
      Array.from({ length: 2 * layers * schema.windows.length }, () => 0.5),
    )
  }

  take(request: TakeRequest): TakeReply {
    const now = this.#clock.now()
    if (request.id !== undefined) return this.#takeOnce(request, request.id, now)
    return this.#take(request, now)
  }

  #take(request: TakeRequest, now: number): TakeReply {
    const { subject, category, cost } = request
    const { layers, limits } = request.quotas
    const lengthsMs = this.#lengthsMs
    let admitted = true
    let missing = false
    for (let l = 0; l < layers.length; l++) {
      const row = this.#table(layers[l]!, category).find(subject)
      this.#rows[l] = row
      if (row === undefined) missing = true
      if (!fits(row ?? this.#blank, 0, lengthsMs, limits, l * lengthsMs.length, cost, now)) admitted = false
    }
    if (!admitted) return { outcome: 'refused', now, states: this.#refuse(layers.length, now) }
    if (missing) this.#addRows(request, now)
    return { outcome: 'admitted', now, states: this.#charge(layers.length, cost, now) }
  }

  /** Leaves the rows in `#rows` as they are, but for starts in the far future; their states. */
  #refuse(layers: number, now: number): WindowStates {
    for (let l = 0; l < layers; l++) reanchor(this.#rows[l] ?? this.#blank, 0, this.#lengthsMs.length, now)
    return this.#view(layers, now)
  }

  /** Adds the rows that are missing in `#rows`; throws before it writes when there is no room. */
  #addRows({ subject, category, quotas: { layers } }: TakeRequest, now: number): void {
    for (let l = 0; l < layers.length; l++) {
      if (this.#rows[l] === undefined) this.#makeRoom(this.#table(layers[l]!, category), now)
    }
    for (let l = 0; l < layers.length; l++) {
      this.#rows[l] ??= this.#table(layers[l]!, category).add(subject)
    }
  }

  /** Charges the rows in `#rows`; their states thereafter. */
  #charge(layers: number, cost: number, now: number): WindowStates {
    const lengthsMs = this.#lengthsMs
    const states = this.#statesByLayers[layers]!.slice()
    for (let l = 0; l < layers; l++) {
      chargeAndView(this.#rows[l]!, 0, lengthsMs, cost, now, states, 2 * l * lengthsMs.length)
    }
    this.#charges++
    if (this.#charges % CHARGES_PER_SWEEP === 0) this.#sweep(now)
    return states
  }

  #sweep(now: number): void {
    this.#tables[(this.#charges / CHARGES_PER_SWEEP) % this.#tables.length]!.sweep(now, 1)
    this.#ids.sweep(now, 1)
  }

  #makeRoom(table: RowTable, now: number): void {
    table.sweep(now, table.size < this.#maxSubjects ? SWEEP_PER_ADDED : SWEEP_WHEN_FULL)
    if (table.size < this.#maxSubjects) return
    throw new QuotaError('store_full', `the memory store holds ${this.#maxSubjects} live subjects (maxSubjects)`)
  }

  /** The states of the rows in `#rows`. */
  #view(layers: number, now: number): WindowStates {
    const lengthsMs = this.#lengthsMs
    const states = this.#statesByLayers[layers]!.slice()
    for (let l = 0; l < layers; l++) {
      viewRow(this.#rows[l] ?? this.#blank, 0, lengthsMs, now, states, 2 * l * lengthsMs.length)
    }
    return states
  }

  #takeOnce(request: TakeRequest, id: ReservationId, now: number): TakeReply {
    const key = this.#idKey(request.subject, request.category, id)
    const record = this.#ids.find(key, now)
    if (record === undefined) {
      this.#ids.sweep(now, this.#ids.size < this.#maxIds ? SWEEP_PER_ADDED : SWEEP_WHEN_FULL)
      if (this.#ids.size >= this.#maxIds) {
        throw new QuotaError('store_full', `the memory store holds ${this.#maxIds} live ids (maxIds)`)
      }
      const reply = this.#take(request, now)
      if (reply.outcome === 'admitted') this.#ids.write(key, id, 'reserved', reply.states, now)
      return reply
    }
    if (record.fingerprint !== id.fingerprint) return { outcome: 'conflict', now, states: [] }
    if (record.state === 'cancelled') return { outcome: 'cancelled', now, states: [] }
    if (record.nonce !== id.nonce) return { outcome: 'duplicate', now, states: [] }
    return { outcome: 'admitted', now, states: record.states }
  }

  read({ subject, categories, layers }: ReadRequest): ReadReply {
    const now = this.#clock.now()
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
    const startedAts = states.filter((_, index) => index % 2 === 0)
    this.#locate(layers, category, subject)
    for (let l = 0; l < layers.length; l++) {
      const windows = this.#lengthsMs.length
      const row = this.#rows[l]
      if (row !== undefined) refund(row, 0, windows, startedAts, l * windows, giveBack)
    }
  }

  /** Marks an id settled; whether it was this nonce's to settle, and still open. */
  #settleOnce({ subject, category, as }: SettleRequest, id: ReservationId): boolean {
    const now = this.#clock.now()
    const key = this.#idKey(subject, category, id)
    const record = this.#ids.find(key, now)
    // A cancel that overtook its reserve: the id is marked, so that the reserve cannot charge when it arrives.
    if (record === undefined && as === 'cancelled') this.#ids.write(key, id, 'cancelled', [], now)
    if (record?.state !== 'reserved' || record.nonce !== id.nonce) return false
    this.#ids.write(key, id, as, record.states, now)
    return true
  }

  reset({ subject, categories, layers }: ResetRequest): void {
    for (const category of categories) {
      this.#locate(layers, category, subject)
      for (let l = 0; l < layers.length; l++) {
        const row = this.#rows[l]
        if (row !== undefined) close(row, 0, this.#lengthsMs.length)
      }
    }
  }

  *snapshot(): Generator<SnapshotPart> {
    const now = this.#clock.now()
    let part: { rows: SnapshotPart['rows'][number][]; ids: SnapshotPart['ids'][number][] } = { rows: [], ids: [] }
    const finished = (): SnapshotPart => {
      const { rows, ids } = part
      part = { rows: [], ids: [] }
      return { schema: this.#fingerprint, rows, ids }
    }
    for (const [index, table] of this.#tables.entries()) {
      for (const [key, cells] of table.rows(now)) {
        part.rows.push([index, key, cells])
        if (part.rows.length === SNAPSHOT_PART_ROWS) yield finished()
      }
    }
    for (const entry of this.#ids.entries(now)) {
      part.ids.push([entry[0], entry[1]])
      if (part.rows.length + part.ids.length === SNAPSHOT_PART_ROWS) yield finished()
    }
    if (part.rows.length + part.ids.length > 0) yield finished()
  }

  restore(part: unknown): void {
    const { schema, rows, ids } = parseSnapshotPart(part)
    if (schema !== this.#fingerprint) {
      const message = 'the snapshot is of other windows, categories or layers than the policy has now'
      throw new QuotaError('store_mismatch', message)
    }
    for (const [index, key, cells] of rows) {
      const table = this.#tables[index]
      if (table === undefined || cells.length !== this.#blank.length) {
        throw faultyDocument('store_mismatch', 'snapshot', [{ path: 'rows', message: `no such row: ${index}` }])
      }
      if (table.find(key) !== undefined) continue
      const row = table.add(key)
      for (const [i, cell] of cells.entries()) row[i] = cell
    }
    const now = this.#clock.now()
    for (const [key, record] of ids) if (this.#ids.find(key, now) === undefined) this.#ids.put(key, record)
  }

  #locate(layers: readonly number[], category: number, subject: Subject): void {
    for (let l = 0; l < layers.length; l++) {
      this.#rows[l] = this.#table(layers[l]!, category).find(subject)
    }
  }

  #table(layer: number, category: number): RowTable {
    return this.#tables[layer * this.#schema.categories.length + category]!
  }

  /** JSON, so that no two (subject, category, id) share a key whatever characters they hold. */
  #idKey(subject: Subject, category: number, { id }: ReservationId): string {
    return JSON.stringify([category, id, ...this.#schema.layers.map((layer) => layerKey(layer, subject))])
  }
}
