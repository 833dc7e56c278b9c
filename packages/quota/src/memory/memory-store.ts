import { QuotaError } from '../errors/quota-error.ts'
import type { SyncCounters, SyncStore } from '../store/quota-store.ts'
import type { StoreSchema } from '../store/schema.ts'
import { instantOf, systemClock } from '../time/clock.ts'
import { windowIdentity, windowOfIdentity } from '../windows/identity.ts'
import { IdRecords } from './id-records.ts'
import { MemoryCounters, type MemoryShared } from './memory-counters.ts'
import { type MemoryStoreOptions, parseMemoryStoreOptions } from './options.ts'
import { parseSnapshotPart, SNAPSHOT_PART_ROWS, type SnapshotPart } from './snapshot.ts'
import { Tables } from './tables.ts'

/** A store in the memory of one process, which answers at once and can be saved. */
export interface MemoryStore extends SyncStore {
  /** Rows held: one for each layer, subject and category that has a window open. */
  readonly size: number
  /**
   * Everything that is live, in parts of at most 1,000 rows. Each part is plain JSON, made when it is asked for, so
   * that a large store can be saved without a pause.
   */
  snapshot(): Generator<SnapshotPart>
  /**
   * Takes over what a snapshot's part holds, whatever policy it was made under: counters of layers, categories and
   * windows that no policy has now are carried on. Rows that are here already stay as they are. A part is taken whole or,
   * where this throws, not at all.
   *
   * @throws {QuotaError} `invalid_options` for anything that is not a part of a snapshot, `store_full`
   */
  restore(part: unknown): void
}

/**
 * Counters in memory: no timers, and nothing live is ever dropped. Ended counters are forgotten in small steps while
 * the store is used. With {@link MemoryStoreOptions.maxSubjects} live subjects in a layer, new ones get `store_full`,
 * which the engine answers by its failure policy.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { clock = systemClock, maxSubjects, maxIds } = parseMemoryStoreOptions(options)
  return new Store({ clock, maxSubjects, maxIds, tables: new Tables(), ids: new IdRecords() })
}

class Store implements MemoryStore {
  readonly sync = true
  readonly #shared: MemoryShared

  constructor(shared: MemoryShared) {
    this.#shared = shared
  }

  get size(): number {
    return this.#shared.tables.size
  }

  open(schema: StoreSchema): SyncCounters {
    return new MemoryCounters(this.#shared, schema)
  }

  *snapshot(): Generator<SnapshotPart> {
    const { tables, ids, clock } = this.#shared
    const now = instantOf(clock)
    const all = [...tables.entries()]
    const described = all.map(({ layer, category, table }) => ({
      layer,
      category,
      windows: table.windows.map(windowIdentity),
    }))
    let rows: SnapshotPart['rows'][number][] = []
    for (const [index, { table }] of all.entries()) {
      // A policy that is opened meanwhile makes rows longer than they were described.
      const length = 2 * described[index]!.windows.length
      for (const [key, cells] of table.rows(now)) {
        rows.push([index, key, cells.slice(0, length)])
        if (rows.length < SNAPSHOT_PART_ROWS) continue
        yield { format: 2, tables: described, rows, ids: [] }
        rows = []
      }
    }
    let records: SnapshotPart['ids'][number][] = []
    for (const [key, record] of ids.entries(now)) {
      records.push([key, record])
      if (rows.length + records.length < SNAPSHOT_PART_ROWS) continue
      yield { format: 2, tables: described, rows, ids: records }
      rows = []
      records = []
    }
    if (rows.length + records.length > 0) yield { format: 2, tables: described, rows, ids: records }
  }

  restore(part: unknown): void {
    const parsed = parseSnapshotPart(part)
    const { tables, ids, clock } = this.#shared
    const now = instantOf(clock)
    this.#makeRoom(parsed, now)
    const targets = parsed.tables.map(({ layer, category, windows }) => {
      const table = tables.of(layer, category)
      // Windows of a kind that this version does not know are left out.
      const known = windows.map(windowOfIdentity)
      const places = table.placesOf({ windows: known.filter((window) => window !== undefined) })
      let next = 0
      return { table, places: known.map((window) => (window === undefined ? undefined : places[next++]!)) }
    })
    for (const [index, key, cells] of parsed.rows) {
      const { table, places } = targets[index]!
      if (table.find(key) !== undefined) continue
      const row = table.add(key)
      for (const [i, place] of places.entries()) {
        if (place === undefined) continue
        row[2 * place] = cells[2 * i]!
        row[2 * place + 1] = cells[2 * i + 1]!
      }
    }
    for (const [key, record] of parsed.ids) if (ids.find(key, now) === undefined) ids.put(key, record)
  }

  /** Asked before anything is taken over, so that a part is never half kept. What has ended makes way. */
  #makeRoom({ tables, rows, ids }: SnapshotPart, now: number): void {
    const { maxSubjects, maxIds } = this.#shared
    for (const [index, { layer, category }] of tables.entries()) {
      const table = this.#shared.tables.of(layer, category)
      const added = rows.filter(([of, key]) => of === index && table.find(key) === undefined).length
      if (table.size + added > maxSubjects) table.sweep(now, 2 * table.size)
      if (table.size + added > maxSubjects) throw noRoom(`${maxSubjects} subjects (maxSubjects)`)
    }
    const records = this.#shared.ids
    const added = ids.filter(([key]) => !records.has(key)).length
    if (records.size + added > maxIds) records.sweep(now, 2 * records.size)
    if (records.size + added > maxIds) throw noRoom(`${maxIds} ids (maxIds)`)
  }
}

function noRoom(bound: string): QuotaError {
  return new QuotaError('store_full', `the part of a snapshot does not fit into ${bound}`)
}
