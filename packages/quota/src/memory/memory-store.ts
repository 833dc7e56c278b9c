import { faultyDocument, otherVersion, QuotaError } from '../errors/quota-error.ts'
import { aClock, type Check, group, listOf, optional, where, wholeNumber, withDefault } from '../options/checks.ts'
import { checked } from '../options/faults.ts'
import { once, optionsParser } from '../options/options-parser.ts'
import type { StoreAbilities, SyncCounters, SyncStore } from '../store/quota-store.ts'
import type { StoreSchema } from '../store/subjects.ts'
import { type Clock, instantOf, systemClock } from '../time/clock.ts'
import { NOT_OPEN } from '../windows/row.ts'
import { IdRecords } from './id-records.ts'
import { MemoryCounters, type MemoryShared } from './memory-counters.ts'
import { isNamedRecord, isNamedRow, isText, type NamedCell, type NamedRecord, NamedTables } from './named-tables.ts'
import { NOWHERE, Tables } from './row-table.ts'

/** A synchronous store in the memory of one process. You can save it. */
export interface MemoryStore extends SyncStore {
  /** The number of rows: one per layer and subject with an open window. */
  readonly size: number
  /**
   * Returns everything that is live, in parts of at most 1,000 rows. Each part is plain JSON and made on request, so
   * that a large store can be saved without blocking.
   */
  snapshot(): Generator<SnapshotPart>
  /**
   * Adds the counters of a snapshot's part, whatever its policy was: counters that no current policy has are kept, too.
   * Existing rows stay unchanged. A part is added completely, or not at all if this throws.
   *
   * @throws {QuotaError} `invalid_options` for an invalid part, `store_full`
   */
  restore(part: unknown): void
}

/**
 * Makes a store in memory. It has no timers, and never drops live counters. Ended counters are removed in small steps
 * while the store is used. With `maxSubjects` live subjects in a layer, new ones get
 * `store_full`, and the failure policy decides.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { clock, maxSubjects, maxIds } = parseMemoryStoreOptions(options)
  const tables = new Tables()
  return new Store({ maxSubjects, maxIds, tables, ids: new IdRecords(tables) }, clock)
}

class Store implements MemoryStore {
  readonly sync = true
  readonly can: StoreAbilities = {
    calendar: true,
    holds: true,
    concurrency: 'all',
    fit: true,
    bucket: true,
    sets: true,
  }
  readonly #shared: Omit<MemoryShared, 'clock'>
  readonly #named: NamedTables
  readonly #ownClock: Clock | undefined
  /** The clock of the first engine that opened it, if it has none of its own. */
  #takenClock: Clock | undefined

  constructor(shared: Omit<MemoryShared, 'clock'>, clock: Clock | undefined) {
    this.#shared = shared
    this.#named = new NamedTables(shared.tables)
    this.#ownClock = clock
  }

  get clock(): Clock | undefined {
    return this.#ownClock ?? this.#takenClock
  }

  get size(): number {
    return this.#shared.tables.size
  }

  open(schema: StoreSchema, engineClock: Clock = systemClock): SyncCounters {
    this.#takenClock ??= engineClock
    if (this.#ownClock === undefined && this.#takenClock !== engineClock) {
      const message = 'memoryStore() uses the clock of its first engine, and this engine has another one'
      throw new QuotaError('invalid_options', `${message}: pass clock to memoryStore() too`)
    }
    const clock = this.#ownClock ?? engineClock
    return new MemoryCounters({ ...this.#shared, clock }, schema)
  }

  *snapshot(): Generator<SnapshotPart> {
    const { tables, ids } = this.#shared
    const now = this.#now()
    ids.endDue(now)
    let [rows, records]: [SnapshotPart['rows'][number][], SnapshotPart['ids'][number][]] = [[], []]
    const part = (least: number): SnapshotPart[] => {
      if (rows.length + records.length < least) return []
      const made = { format: SNAPSHOT_FORMAT, rows, ids: records } as const
      ;[rows, records] = [[], []]
      return [made]
    }
    for (const [layer, table] of tables.all) {
      for (const [key, pairs] of table.rows(now)) {
        const cells = this.#named.of(layer).named(pairs)
        rows.push([layer, key, cells.filter(([, startedAt]) => startedAt !== NOT_OPEN)])
        yield* part(SNAPSHOT_PART_ROWS)
      }
    }
    for (const [key, record] of ids.entries(now)) {
      records.push([key, this.#named.record(record)])
      yield* part(SNAPSHOT_PART_ROWS)
    }
    yield* part(1)
  }

  restore(part: unknown): void {
    const parsed = parseSnapshotPart(part)
    const { tables, ids } = this.#shared
    const now = this.#now()
    this.#makeRoom(parsed, now)
    for (const [layer, key, cells] of parsed.rows) {
      if (tables.of(layer).placeOf(key) === NOWHERE) this.#named.of(layer).put(key, cells)
    }
    for (const [key, record] of parsed.ids) {
      if (ids.find(key, now) === undefined) ids.adopt(key, this.#named.placed(record))
    }
  }

  #now(): number {
    return instantOf(this.clock ?? systemClock)
  }

  /** Checks that a part fits before anything is restored. Removes ended entries to make room. */
  #makeRoom({ rows, ids }: SnapshotPart, now: number): void {
    const { maxSubjects, maxIds } = this.#shared
    for (const layer of new Set(rows.map(([of]) => of))) {
      const table = this.#shared.tables.of(layer)
      const added = rows.filter(([of, key]) => of === layer && table.placeOf(key) === NOWHERE).length
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

interface MemoryStoreOptions {
  /**
   * The store's clock.
   *
   * @default the clock of the engine that uses it
   */
  readonly clock?: Clock | undefined
  /**
   * The most live subjects per layer. Each takes about 100 bytes plus its key. Above that, the failure
   * policy decides for new subjects.
   *
   * @default 1_000_000
   */
  readonly maxSubjects?: number | undefined
  /**
   * The most live server-side ids. Each takes about 400 bytes. Above that, the failure policy decides for reservations
   * with new ids.
   *
   * @default 500_000
   */
  readonly maxIds?: number | undefined
}

/** Parsed options, with defaults. */
type ParsedMemoryStoreOptions = MemoryStoreOptions & { readonly maxSubjects: number; readonly maxIds: number }

const parse = /* @__PURE__ */ optionsParser<ParsedMemoryStoreOptions>(
  'memoryStore()',
  () => ({
    clock: optional(aClock()),
    maxSubjects: withDefault(wholeNumber(1, Number.MAX_SAFE_INTEGER), 1_000_000),
    maxIds: withDefault(wholeNumber(1, Number.MAX_SAFE_INTEGER), 500_000),
  }),
  { words: { max: 'use `maxSubjects` and `maxIds`', maxKeys: 'use `maxSubjects`' } },
)

/** @throws {QuotaError} `invalid_options` naming every fault */
function parseMemoryStoreOptions(options: MemoryStoreOptions): ParsedMemoryStoreOptions {
  return parse(options)
}

/** The most rows and records in one part. */
const SNAPSHOT_PART_ROWS = 1_000

/** The version of {@link SnapshotPart} that this library writes and reads. */
const SNAPSHOT_FORMAT = 1

/** A part of a saved memory store. Plain JSON. */
export interface SnapshotPart {
  readonly format: typeof SNAPSHOT_FORMAT
  /** Rows as `[layer, key, cells]`. */
  readonly rows: readonly (readonly [layer: string, key: string, cells: readonly NamedCell[]])[]
  /** Records of server-side ids as `[key, record]`. */
  readonly ids: readonly (readonly [key: string, record: NamedRecord])[]
}

const schema = /* @__PURE__ */ once(() =>
  group({
    format: where<typeof SNAPSHOT_FORMAT>((value) => value === SNAPSHOT_FORMAT, String(SNAPSHOT_FORMAT)),
    rows: entries<SnapshotPart['rows'][number]>('a row, [layer, key, cells]', isText, isText, isNamedRow),
    ids: entries<SnapshotPart['ids'][number]>('the record of an id, [key, record]', isText, isNamedRecord),
  }),
)

/** A list of entries whose elements are right, one by one. */
function entries<T>(what: string, ...are: readonly ((value: unknown) => boolean)[]): Check<T[]> {
  const isEntry = (entry: unknown): boolean =>
    Array.isArray(entry) && entry.length === are.length && are.every((is, index) => is(entry[index]))
  return listOf(where<T>(isEntry, what), 0, Number.MAX_SAFE_INTEGER)
}

/**
 * Validates a part of a snapshot.
 *
 * @throws {QuotaError} `other_version`; `invalid_options` for anything else than a part. Nothing of it is used then
 */
function parseSnapshotPart(part: unknown): SnapshotPart {
  if (isText(part)) {
    const message = 'expected a part of a snapshot, got text: JSON.parse() it first'
    throw faultyDocument('invalid_options', 'snapshot', [{ path: '', message }])
  }
  const { format } = Object(part) as { readonly format?: unknown }
  if (typeof format === 'number' && format !== SNAPSHOT_FORMAT) {
    throw otherVersion('the part of a snapshot', format, SNAPSHOT_FORMAT)
  }
  const { value: parsed, faults } = checked(schema(), part)
  if (faults !== undefined) throw faultyDocument('invalid_options', 'snapshot', faults)
  return parsed
}
