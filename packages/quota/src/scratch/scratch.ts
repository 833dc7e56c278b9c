import { IdRecords, idKey } from '../memory/id-records.ts'
import { MemoryCounters, type MemoryShared } from '../memory/memory-counters.ts'
import { type NamedCell, type NamedRecord, NamedTables } from '../memory/named-tables.ts'
import { Tables } from '../memory/row-table.ts'
import type { EndedHold } from '../store/hold-port.ts'
import type { SyncCounters } from '../store/quota-store.ts'
import { layerKey, ownerOf, type StoreSchema, type SubjectKeys } from '../store/subjects.ts'
import { instantOf } from '../time/clock.ts'
import { type Layout, layoutOf } from '../windows/layout.ts'

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
  readonly #named = new NamedTables(this.#tables)
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
    this.#named.of(layer).put(key, cells)
  }

  /** Returns the current row, with its cells in the order of their identities; `undefined`: it doesn't exist. */
  row({ layer, key }: RowPlace): readonly NamedCell[] | undefined {
    return this.#named.of(layer).row(key)
  }

  /**
   * Like {@link putRow}, with numbers only: a pair `[startedAt, used]` for each of `identities`. This version must know
   * all of them. Pass the same list for all rows that have it.
   */
  putPairs({ layer, key }: RowPlace, identities: readonly string[], pairs: readonly number[]): void {
    this.#named.of(layer).putPairs(key, identities, pairs)
  }

  /** Returns the current pairs of a row, in the order of `identities`; `undefined`: it doesn't exist. */
  pairs({ layer, key }: RowPlace, identities: readonly string[]): number[] | undefined {
    return this.#named.of(layer).pairs(key, identities)
  }

  /** Returns how long to keep a row, in epoch milliseconds; `Infinity` while slots are taken. */
  rowEndsAt({ layer, key }: RowPlace): number {
    return this.#named.of(layer).endsAt(key)
  }

  putRecord(place: IdPlace, record: NamedRecord): void {
    this.#ids.adopt(keyOf(place), this.#named.placed(record))
  }

  /** Returns the current record, even if it has expired; `undefined`: it doesn't exist. */
  record(place: IdPlace): NamedRecord | undefined {
    const record = this.#ids.find(keyOf(place), Number.NEGATIVE_INFINITY)
    return record && this.#named.record(record)
  }

  /** Settles holds that have expired. Every call of the counters does this, too. */
  endDue(): void {
    this.#ids.endDue(instantOf(this.#shared.clock))
  }

  /** Returns the holds that ended here since the last call. */
  drain(): readonly EndedHold[] {
    return this.#ids.drain()
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
