import { copyOf, type HoldFacts, type HoldRow, type IdRecord, IdRecords, idKey } from '../memory/id-records.ts'
import { MemoryCounters, type MemoryShared } from '../memory/memory-counters.ts'
import { NOWHERE, type RowTable, Tables } from '../memory/row-table.ts'
import type { EndedHold } from '../store/hold-port.ts'
import type { SyncCounters } from '../store/quota-store.ts'
import { layerKey, ownerOf, type StoreSchema, type SubjectKeys } from '../store/subjects.ts'
import { instantOf } from '../time/clock.ts'
import { cellOfIdentity } from '../windows/identity.ts'
import { type Layout, layoutOf } from '../windows/layout.ts'
import { countIn, GRACE_MS, lastEnd, NOT_OPEN, startIn } from '../windows/row.ts'

/** A limit's counter by its identity: when it started, and what was used or charged since. */
export type NamedCell = readonly [identity: string, startedAt: number, used: number]

/** The part of a hold in one row. */
export interface NamedHoldRow {
  readonly layer: string
  readonly key: string
  readonly charged: readonly NamedCell[]
}

/** The record of an id with names only, units included. It can be stored anywhere, and read with any policy. */
export interface NamedRecord extends Omit<IdRecord, 'hold'> {
  readonly hold?: (Omit<HoldFacts, 'rows'> & { readonly rows: readonly NamedHoldRow[] }) | undefined
}

/**
 * A temporary copy of rows and records that are stored elsewhere, for one step that changes them. A store reads what a
 * step needs, adds it here, lets the counters decide like those of the memory store, and writes back what has changed:
 *
 * ```ts
 * scratch.begin(now)
 * scratch.putRow(place, cells) // every row and record that the step reads
 * scratch.endDue()
 * const reply = scratch.open(schema).take(request)
 * const changed = scratch.row(place)
 * ```
 *
 * The counters only see what was added, and drop nothing that is live. The store decides whether there is room for more.
 * Use a scratch for one step at a time.
 */
export class Scratch {
  readonly #tables = new Tables()
  readonly #ids = new IdRecords(this.#tables)
  readonly #shared: MemoryShared
  readonly #counters = new Map<StoreSchema, SyncCounters>()
  readonly #known = new Map<string, NamedTable>()
  #now = 0

  constructor() {
    const clock = { now: () => this.#now }
    const [maxSubjects, maxIds] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    this.#shared = { clock, maxSubjects, maxIds, tables: this.#tables, ids: this.#ids }
  }

  /** Starts a step at an instant, in epoch milliseconds. Removes everything from the previous one. */
  begin(now: number): void {
    this.#now = now
    for (const table of this.#tables.all.values()) table.clear()
    this.#ids.clear()
  }

  /** Returns the counters of a schema on these rows. You can use them in every step. */
  open(schema: StoreSchema): SyncCounters {
    const known = this.#counters.get(schema) ?? new MemoryCounters(this.#shared, schema)
    this.#counters.set(schema, known)
    return known
  }

  /** Adds a row. Cells that this version doesn't know are dropped. */
  putRow({ layer, key }: RowPlace, cells: readonly NamedCell[]): void {
    this.#of(layer).put(key, cells)
  }

  /** Returns the current row, with its cells in the order of their identities; `undefined`: it doesn't exist. */
  row({ layer, key }: RowPlace): readonly NamedCell[] | undefined {
    return this.#of(layer).row(key)
  }

  /**
   * Like {@link putRow}, with numbers only: a pair `[startedAt, used]` for each of `identities`. This version must know
   * all of them. Pass the same list for all rows that have it.
   */
  putPairs({ layer, key }: RowPlace, identities: readonly string[], pairs: readonly number[]): void {
    this.#of(layer).putPairs(key, identities, pairs)
  }

  /** Returns the current pairs of a row, in the order of `identities`; `undefined`: it doesn't exist. */
  pairs({ layer, key }: RowPlace, identities: readonly string[]): number[] | undefined {
    return this.#of(layer).pairs(key, identities)
  }

  /** Returns how long to keep a row, in epoch milliseconds; `Infinity` while slots are taken. */
  rowEndsAt({ layer, key }: RowPlace): number {
    return this.#of(layer).endsAt(key)
  }

  putRecord(place: IdPlace, record: NamedRecord): void {
    const { hold, ...rest } = record
    const rows = hold?.rows.map(({ layer, key: subject, charged }): HoldRow => {
      const pairs = this.#of(layer).placed(charged)
      return {
        layer,
        key: subject,
        charged: Array.from(pairs, (number, at) => number ?? (at % 2 === 0 ? NOT_OPEN : 0)),
      }
    })
    this.#ids.adopt(keyOf(place), rows === undefined ? rest : { ...rest, hold: { ...hold!, rows } })
  }

  /** Returns the current record, even if it has expired; `undefined`: it doesn't exist. */
  record(place: IdPlace): NamedRecord | undefined {
    const record = this.#ids.find(keyOf(place), Number.NEGATIVE_INFINITY)
    if (record === undefined) return undefined
    const { hold, ...rest } = copyOf(record)
    if (hold === undefined) return rest
    const rows = hold.rows.map(({ layer, key: subject, charged }) => ({
      layer,
      key: subject,
      charged: this.#of(layer).named(charged),
    }))
    return { ...rest, hold: { ...hold, rows } }
  }

  /** Settles holds that have expired. Every call of the counters does this, too. */
  endDue(): void {
    this.#ids.endDue(instantOf(this.#shared.clock))
  }

  /** Returns the holds that ended here since the last call. */
  drain(): readonly EndedHold[] {
    return this.#ids.drain()
  }

  #of(layer: string): NamedTable {
    const known = this.#known.get(layer) ?? new NamedTable(this.#tables.of(layer))
    this.#known.set(layer, known)
    return known
  }
}

/** A table that finds its cells by name. */
class NamedTable {
  readonly #table: RowTable
  /** The positions of cells; `undefined`: this version doesn't know the cell. */
  readonly #places = new Map<string, number | undefined>()
  /** The positions of lists of identities. */
  readonly #lists = new WeakMap<readonly string[], readonly number[]>()
  #lengthsMs: readonly number[] = []
  /** The cells in the order of their identities. */
  #ordered: readonly (readonly [identity: string, place: number])[] = []

  constructor(table: RowTable) {
    this.#table = table
  }

  put(key: string, cells: readonly NamedCell[]): void {
    // Before the row is read, because a new cell makes the table's rows longer.
    const places = cells.map(([identity]) => this.#placeOf(identity))
    const { page, at } = this.#rowOf(key)
    for (const [index, [, startedAt, used]] of cells.entries()) {
      const place = places[index]
      if (place === undefined) continue
      page[at + 2 * place] = startedAt
      page[at + 2 * place + 1] = used
    }
  }

  putPairs(key: string, identities: readonly string[], pairs: readonly number[]): void {
    const places = this.#placesOf(identities)
    const { page, at } = this.#rowOf(key)
    for (const [cell, place] of places.entries()) {
      page[at + 2 * place] = startIn(pairs, 2 * cell)
      page[at + 2 * place + 1] = countIn(pairs, 2 * cell)
    }
  }

  pairs(key: string, identities: readonly string[]): number[] | undefined {
    const row = this.#table.placeOf(key)
    if (row === NOWHERE) return undefined
    const places = this.#placesOf(identities)
    const [page, at] = [this.#table.pageOf(row), this.#table.at(row)]
    return places.flatMap((place) => [startIn(page, at + 2 * place), countIn(page, at + 2 * place)])
  }

  row(key: string): readonly NamedCell[] | undefined {
    const place = this.#table.placeOf(key)
    return place === NOWHERE ? undefined : this.named(this.#table.pairsAt(place))
  }

  endsAt(key: string): number {
    const { cells } = this.#table
    if (this.#lengthsMs.length !== cells.length) this.#lengthsMs = cells.map(({ lengthMs }) => lengthMs)
    const place = this.#table.placeOf(key)
    if (place === NOWHERE) return GRACE_MS
    return lastEnd(this.#table.pageOf(place), this.#table.at(place), this.#lengthsMs) + GRACE_MS
  }

  /** Returns the numbers of cells at their positions in the table. */
  placed(cells: readonly NamedCell[]): readonly (number | undefined)[] {
    const pairs: (number | undefined)[] = []
    for (const [identity, startedAt, used] of cells) {
      const place = this.#placeOf(identity)
      if (place !== undefined) [pairs[2 * place], pairs[2 * place + 1]] = [startedAt, used]
    }
    return pairs
  }

  /** Names the pairs of a row, or of its first cells. */
  named(pairs: readonly number[]): NamedCell[] {
    const { cells } = this.#table
    if (this.#ordered.length !== cells.length) {
      const places = cells.map(({ identity }, place) => [identity, place] as const)
      this.#ordered = places.sort(([a], [b]) => (a < b ? -1 : 1))
    }
    const named: NamedCell[] = []
    for (const [identity, place] of this.#ordered) {
      if (2 * place < pairs.length) named.push([identity, startIn(pairs, 2 * place), countIn(pairs, 2 * place)])
    }
    return named
  }

  /** Returns the numbers of a row, and creates it if necessary. */
  #rowOf(key: string): { readonly page: Float64Array; readonly at: number } {
    const known = this.#table.placeOf(key)
    const row = known === NOWHERE ? this.#table.add(key) : known
    return { page: this.#table.pageOf(row), at: this.#table.at(row) }
  }

  #placesOf(identities: readonly string[]): readonly number[] {
    const known = this.#lists.get(identities)
    if (known !== undefined) return known
    const places = identities.map((identity) => {
      const place = this.#placeOf(identity)
      if (place === undefined) throw new TypeError(`no counter of this version is called ${identity}`)
      return place
    })
    this.#lists.set(identities, places)
    return places
  }

  #placeOf(identity: string): number | undefined {
    const known = this.#places.get(identity)
    if (known !== undefined || this.#places.has(identity)) return known
    const cell = cellOfIdentity(identity)
    const place = cell && this.#table.placesOf([cell])[0]
    this.#places.set(identity, place)
    return place
  }
}

function keyOf({ by, owner, id }: IdPlace): string {
  return idKey({ by, key: owner }, { id })
}

/** Identifies a row: the counters of one layer and subject. */
export interface RowPlace {
  readonly layer: string
  /** The subject's key in the layer; `''` in a shared layer. */
  readonly key: string
}

/** Identifies the record of an id. */
export interface IdPlace {
  /** The member of the subject that has its key: see `Owner`. */
  readonly by: string
  /** The subject's key there. */
  readonly owner: string
  readonly id: string
}

/** The members that say which limits a request is about: a take, a read, a settlement, or a reset. */
export type RowRequest = { readonly subject: SubjectKeys } & (
  | { readonly set: number; readonly quotas: { readonly layers: readonly number[] } }
  | { readonly set: number; readonly layers: readonly number[] }
  | { readonly limits: readonly number[] }
)

/** Returns the rows that a request uses, by their names. A layer in which it counts no limit has none. */
export function rowPlaces(schema: StoreSchema, request: RowRequest): RowPlace[] {
  return usedLayers(layoutOf(schema), request).map((index) => {
    const layer = schema.layers[index]!
    return { layer: layer.name, key: layerKey(layer, request.subject) }
  })
}

/** Returns the layers whose rows a request uses, in its order. */
export function usedLayers(layout: Layout, request: RowRequest): readonly number[] {
  if ('limits' in request) return [...new Set(request.limits.map((at) => layout.cellAt(at).layer))]
  const { layers } = 'quotas' in request ? request.quotas : request
  return layers.filter((layer) => layout.countedIn(request.set, layer).length > 0)
}

/** Returns the record that a request with an id uses; none without an id. */
export function idPlaces(schema: StoreSchema, { subject, id }: IdRequest): IdPlace[] {
  if (id === undefined) return []
  const { by, key } = ownerOf(schema, subject)
  return [{ by, owner: key, id: id.id }]
}

/** The members that are read of a request: a take, a settlement, or a call on a hold. */
interface IdRequest {
  readonly subject: SubjectKeys
  readonly id?: { readonly id: string } | undefined
}
