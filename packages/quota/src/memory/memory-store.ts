import { faultyDocument, otherVersion, QuotaError } from '../errors/quota-error.ts'
import {
  aClock,
  type Check,
  group,
  isObject,
  listOf,
  optional,
  where,
  wholeNumber,
  withDefault,
} from '../options/checks.ts'
import { checked } from '../options/faults.ts'
import { once, optionsParser } from '../options/options-parser.ts'
import type { Settled } from '../store/hold-port.ts'
import type { StoreAbilities, SyncCounters, SyncStore } from '../store/quota-store.ts'
import type { StoreSchema } from '../store/subjects.ts'
import { type Clock, instantOf, systemClock } from '../time/clock.ts'
import { cellOfIdentity } from '../windows/identity.ts'
import { type Cells, NOT_OPEN } from '../windows/row.ts'
import { type HoldFacts, type HoldRow, type IdRecord, IdRecords } from './id-records.ts'
import { MemoryCounters, type MemoryShared } from './memory-counters.ts'
import { NOWHERE, type RowTable, Tables } from './row-table.ts'

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
  readonly #ownClock: Clock | undefined
  /** The clock of the first engine that opened it, if it has none of its own. */
  #takenClock: Clock | undefined

  constructor(shared: Omit<MemoryShared, 'clock'>, clock: Clock | undefined) {
    this.#shared = shared
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
    const all = [...tables.all]
    const described = all.map(([layer, table]) => ({
      layer,
      cells: table.cells.map(({ identity }) => identity),
    }))
    let rows: SnapshotPart['rows'][number][] = []
    for (const [index, [, table]] of all.entries()) {
      // If a policy is opened in the meantime, rows are longer than described.
      const length = 2 * described[index]!.cells.length
      for (const [key, cells] of table.rows(now)) {
        rows.push([index, key, cells.slice(0, length)])
        if (rows.length < SNAPSHOT_PART_ROWS) continue
        yield { format: SNAPSHOT_FORMAT, tables: described, rows, ids: [] }
        rows = []
      }
    }
    let records: SnapshotPart['ids'][number][] = []
    for (const [key, record] of ids.entries(now)) {
      records.push([key, record])
      if (rows.length + records.length < SNAPSHOT_PART_ROWS) continue
      yield { format: SNAPSHOT_FORMAT, tables: described, rows, ids: records }
      rows = []
      records = []
    }
    if (rows.length + records.length > 0) yield { format: SNAPSHOT_FORMAT, tables: described, rows, ids: records }
  }

  restore(part: unknown): void {
    const parsed = parseSnapshotPart(part)
    const { tables, ids } = this.#shared
    const now = this.#now()
    this.#makeRoom(parsed, now)
    const targets = parsed.tables.map(({ layer, cells }) => {
      const table = tables.of(layer)
      return { layer, table, places: placesIn(table, cells) }
    })
    for (const [index, key, cells] of parsed.rows) {
      const { table, places } = targets[index]!
      if (table.placeOf(key) !== NOWHERE) continue
      const place = table.add(key)
      copyPairs(cells, places, table.pageOf(place), table.at(place))
    }
    for (const [key, record] of parsed.ids) {
      if (ids.find(key, now) !== undefined) continue
      const { hold } = record
      const rows = hold?.rows.map((row) => {
        const target = targets.find(({ layer }) => layer === row.layer)
        if (target === undefined) return { ...row, charged: [] }
        const charged = target.table.cells.flatMap(() => [NOT_OPEN, 0])
        copyPairs(row.charged, target.places, charged, 0)
        return { ...row, charged }
      })
      ids.adopt(key, rows === undefined ? record : { ...record, hold: { ...hold!, rows } })
    }
  }

  #now(): number {
    return instantOf(this.clock ?? systemClock)
  }

  /** Checks that a part fits before anything is restored. Removes ended entries to make room. */
  #makeRoom({ tables, rows, ids }: SnapshotPart, now: number): void {
    const { maxSubjects, maxIds } = this.#shared
    for (const [index, { layer }] of tables.entries()) {
      const table = this.#shared.tables.of(layer)
      const added = rows.filter(([of, key]) => of === index && table.placeOf(key) === NOWHERE).length
      if (table.size + added > maxSubjects) table.sweep(now, 2 * table.size)
      if (table.size + added > maxSubjects) throw noRoom(`${maxSubjects} subjects (maxSubjects)`)
    }
    const records = this.#shared.ids
    const added = ids.filter(([key]) => !records.has(key)).length
    if (records.size + added > maxIds) records.sweep(now, 2 * records.size)
    if (records.size + added > maxIds) throw noRoom(`${maxIds} ids (maxIds)`)
  }
}

/** Returns where another store's cells are in a table. Cells of unknown kinds have no position. */
function placesIn(table: RowTable, identities: readonly string[]): readonly (number | undefined)[] {
  return identities.map((identity) => {
    const cell = cellOfIdentity(identity)
    return cell && table.placesOf([cell])[0]
  })
}

/** @param at where the written pairs start */
function copyPairs(from: readonly number[], places: readonly (number | undefined)[], to: Cells, at: number): void {
  for (const [i, place] of places.entries()) {
    const [startedAt, used] = [from[2 * i], from[2 * i + 1]]
    if (place === undefined || startedAt === undefined || used === undefined) continue
    to[at + 2 * place] = startedAt
    to[at + 2 * place + 1] = used
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
const SNAPSHOT_FORMAT = 2

/** A part of a saved memory store. Plain JSON. */
export interface SnapshotPart {
  readonly format: typeof SNAPSHOT_FORMAT
  /** The tables, to which rows refer by index, and the identities of the cells in their rows. */
  readonly tables: readonly {
    readonly layer: string
    /** Identities of the cells, see `CellSchema`. */
    readonly cells: readonly string[]
  }[]
  /** Rows as `[table, key, cells]`. */
  readonly rows: readonly (readonly [table: number, key: string, cells: readonly number[]])[]
  /** Records of server-side ids as `[key, record]`. */
  readonly ids: readonly (readonly [key: string, record: IdRecord])[]
}

const isText = (value: unknown): boolean => typeof value === 'string'
const text = (what: string): Check<string> => where(isText, what)
const listOfAny = <T>(check: Check<T>): Check<T[]> => listOf(check, 0, Number.MAX_SAFE_INTEGER)

function isCells(value: unknown): boolean {
  return Array.isArray(value) && value.every((cell) => Number.isSafeInteger(cell) && cell >= -1)
}

function isRow(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 3) return false
  const [table, key, cells] = value as readonly unknown[]
  return Number.isSafeInteger(table) && (table as number) >= 0 && isText(key) && isCells(cells)
}

function isIdEntry(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && isText(value[0]) && isIdRecord(value[1])
}

function isIdRecord(value: unknown): boolean {
  const { state, nonce, fingerprint, states, expiresAt, hold } = Object(value) as Partial<
    Record<keyof IdRecord, unknown>
  >
  const isPlain = isText(nonce) && isText(fingerprint) && isCells(states) && Number.isSafeInteger(expiresAt)
  return STATES.includes(state) && isPlain && (hold === undefined || isHold(hold))
}

const STATES: readonly unknown[] = ['reserved', 'committed', 'cancelled', 'expired'] satisfies IdRecord['state'][]

function isHold(value: unknown): boolean {
  const { by, owner, costs, takenAt, endsAt, ttlMs, rows, answer } = Object(value) as Partial<
    Record<keyof HoldFacts, unknown>
  >
  return (
    isText(by) &&
    isText(owner) &&
    isAmounts(costs) &&
    [takenAt, endsAt, ttlMs].every(isAmount) &&
    Array.isArray(rows) &&
    rows.every(isHoldRow) &&
    (answer === undefined || isAnswer(answer))
  )
}

function isAnswer(value: unknown): boolean {
  const { charged, uncharged, reserved } = Object(value) as Partial<Record<keyof Settled, unknown>>
  return [charged, uncharged, reserved].every(isAmounts)
}

function isAmounts(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(isAmount)
}

function isAmount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isHoldRow(value: unknown): boolean {
  const { layer, key, charged } = Object(value) as Partial<Record<keyof HoldRow, unknown>>
  return isText(layer) && isText(key) && isCells(charged)
}

const schema = /* @__PURE__ */ once(() =>
  group({
    format: where<typeof SNAPSHOT_FORMAT>((value) => value === SNAPSHOT_FORMAT, String(SNAPSHOT_FORMAT)),
    tables: listOfAny(
      group({
        layer: text('the name of a layer'),
        cells: listOfAny(text('the identity of a limit')),
      }),
    ),
    rows: listOfAny(where<SnapshotPart['rows'][number]>(isRow, 'a row, [table, key, numbers]')),
    ids: listOfAny(where<SnapshotPart['ids'][number]>(isIdEntry, 'the record of an id, [key, record]')),
  }),
)

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
  const wrong = parsed.rows.flatMap(([table, , numbers], index) => {
    const { cells } = parsed.tables[table] ?? {}
    const message = cells === undefined ? `no such table: ${table}` : `expected ${2 * cells.length} numbers`
    return numbers.length === (cells?.length ?? Number.NaN) * 2 ? [] : [{ path: `rows.${index}`, message }]
  })
  if (wrong.length > 0) throw faultyDocument('invalid_options', 'snapshot', wrong)
  return parsed
}
