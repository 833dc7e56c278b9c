import { isObject } from '../options/checks.ts'
import type { Settled } from '../store/hold-port.ts'
import { type Amounts, cellOfIdentity } from '../windows/identity.ts'
import { CLOSED, countIn, GRACE_MS, lastEnd, NOT_OPEN, startIn } from '../windows/row.ts'
import { copyOf, type HoldFacts, type HoldRow, type IdRecord } from './id-records.ts'
import { NOWHERE, type RowTable, type Tables } from './row-table.ts'

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

/** Tables whose rows and records are written and read by names. */
export class NamedTables {
  readonly #tables: Tables
  readonly #known = new Map<string, NamedTable>()

  constructor(tables: Tables) {
    this.#tables = tables
  }

  of(layer: string): NamedTable {
    const known = this.#known.get(layer) ?? new NamedTable(this.#tables.of(layer))
    this.#known.set(layer, known)
    return known
  }

  /** Returns a record by names, which no later step changes. */
  record(record: IdRecord): NamedRecord {
    const { hold, ...rest } = copyOf(record)
    if (hold === undefined) return rest
    const rows = hold.rows.map((row) => ({ ...row, charged: this.of(row.layer).named(row.charged) }))
    return { ...rest, hold: { ...hold, rows } }
  }

  /** Returns a record as the tables have it. */
  placed({ hold, ...rest }: NamedRecord): IdRecord {
    if (hold === undefined) return rest
    const rows = hold.rows.map((row): HoldRow => {
      const pairs = this.of(row.layer).placed(row.charged)
      return { ...row, charged: Array.from(pairs, (number, at) => number ?? (at % 2 === 0 ? NOT_OPEN : 0)) }
    })
    return { ...rest, hold: { ...hold, rows } }
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

// Stored values may be anything. -----------------------------------------------------------------------------------------

type Is = (value: unknown) => boolean

export const isText = (value: unknown): value is string => typeof value === 'string'
const isCount: Is = (value) => Number.isSafeInteger(value) && (value as number) >= CLOSED
const isAmount: Is = (value) => isCount(value) && value !== CLOSED
const isAmounts: Is = (value) => isObject(value) && Object.values(value).every(isAmount)

function listOf(is: Is): Is {
  return (value) => Array.isArray(value) && value.every(is)
}

function orNone(is: Is): Is {
  return (value) => value === undefined || is(value)
}

/** Whether each member of an object is right. */
function has<T>(members: { readonly [K in keyof Required<T>]: Is }): Is {
  const checks = Object.entries<Is>(members)
  return (value) => isObject(value) && checks.every(([name, is]) => is(value[name]))
}

const isCell: Is = (cell) => Array.isArray(cell) && cell.length === 3 && isText(cell[0]) && cell.slice(1).every(isCount)

/** Whether a stored value is the cells of a row. */
export const isNamedRow: Is = /* @__PURE__ */ listOf(isCell)

/** Whether a stored value is a {@link NamedRecord}. */
export const isNamedRecord: Is = /* @__PURE__ */ has<NamedRecord>({
  state: (state) => state === 'reserved' || state === 'committed' || state === 'cancelled' || state === 'expired',
  nonce: isText,
  fingerprint: isText,
  states: /* @__PURE__ */ listOf(isCount),
  expiresAt: isAmount,
  hold: /* @__PURE__ */ orNone(
    /* @__PURE__ */ has<NonNullable<NamedRecord['hold']>>({
      by: isText,
      owner: isText,
      costs: isAmounts,
      takenAt: isAmount,
      endsAt: isAmount,
      ttlMs: isAmount,
      rows: /* @__PURE__ */ listOf(
        /* @__PURE__ */ has<NamedHoldRow>({ layer: isText, key: isText, charged: isNamedRow }),
      ),
      answer: /* @__PURE__ */ orNone(
        /* @__PURE__ */ has<Settled<Amounts>>({ charged: isAmounts, uncharged: isAmounts, reserved: isAmounts }),
      ),
    }),
  ),
})
