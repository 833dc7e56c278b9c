import type { LayerSchema } from '../store/schema.ts'
import type { CellDefinition } from '../windows/identity.ts'
import { CLOSED, clearRow, GRACE_MS, lastEnd, NOT_OPEN } from '../windows/row.ts'

/** How many rows a page has; the first page grows to that. */
const BITS = 10
const ROWS = 1 << BITS
const FEWEST = 4

const NO_ROWS = new Float64Array(0)

/** The place of a missing row. */
export const NOWHERE = -1

/**
 * The rows of one layer and category, by subject key; the layer that all subjects share has the key `''`. A row is pairs
 * `[startedAt, used]`, see `windows/row.ts`, in a page of numbers: a subject is stored as these and a place in a map,
 * with nothing for the garbage collector to visit. Every policy that was ever opened on the table has its cells in it:
 * they stand in the order in which they came.
 */
export class RowTable {
  readonly #cells: CellDefinition[] = []
  readonly #lengthsMs: number[] = []
  /** The pairs of a row without open cells, for copying. */
  blank: number[] = []
  /** The longest window, in milliseconds. */
  #longestMs = 0
  readonly #places = new Map<string, number>()
  #shared = NOWHERE
  #pages: Float64Array[] = []
  /** Numbers per row. */
  #stride = 0
  /** Rows per page. */
  #live: number[] = []
  /** Pages from this one on have no rows. */
  #top = 0
  /** Places below {@link #end} without rows. Those beyond the size of all rows are kept separately. */
  #holes: number[] = []
  #far: number[] = []
  /** All rows and holes are below this place. */
  #end = 0
  readonly #sweeper = new Sweeper(this.#places, (place) => this.#endOf(place), {
    dropped: (place) => this.#drop(place),
    kept: (key, place) => this.#close(key, place),
  })

  get size(): number {
    return this.#places.size + (this.#shared === NOWHERE ? 0 : 1)
  }

  get cells(): readonly CellDefinition[] {
    return this.#cells
  }

  /** Where cells are in this table's rows. New cells come last. */
  placesOf(cells: readonly CellDefinition[]): readonly number[] {
    return cells.map((cell) => {
      const known = this.#cells.findIndex(({ identity }) => identity === cell.identity)
      return known === -1 ? this.#append(cell) : known
    })
  }

  /** The place of the row that all subjects share, or {@link NOWHERE}. */
  get shared(): number {
    return this.#shared
  }

  /** The place of a subject's row, or {@link NOWHERE}. A place is valid until rows are added or swept. */
  placeOf(key: string): number {
    return this.#places.get(key) ?? (key === '' ? this.#shared : NOWHERE)
  }

  /** Adds a row whose cells never opened. @returns its place */
  add(key: string): number {
    const place = this.#holes.pop() ?? this.#far.pop() ?? this.#end++
    this.#grow(place >> BITS, (place & (ROWS - 1)) + 1)
    const at = this.at(place)
    clearRow(this.pageOf(place), at, this.#cells.length)
    if (key === '') this.#shared = place
    else this.#places.set(key, place)
    return place
  }

  pageOf(place: number): Float64Array {
    return this.#pages[place >> BITS]!
  }

  /** Where a row's pairs begin in its page. */
  at(place: number): number {
    return (place & (ROWS - 1)) * this.#stride
  }

  /** Removes every row. The cells keep their places. */
  clear(): void {
    this.#places.clear()
    this.#shared = NOWHERE
    this.#holes = []
    this.#far = []
    this.#live = []
    this.#top = 0
    this.#end = 0
  }

  /** Checks a few rows, if any can have ended, and removes those that have. */
  step(now: number): void {
    this.#sweeper.step(now, this.#longestMs + GRACE_MS)
  }

  /** Checks the next `most` rows, and removes those that ended. */
  sweep(now: number, most: number): void {
    this.#sweeper.sweep(now, this.#longestMs + GRACE_MS, most)
  }

  /** Every row that isn't over. */
  *rows(now: number): Generator<readonly [key: string, pairs: number[]]> {
    if (this.#shared !== NOWHERE && now < this.#endOf(this.#shared)) yield ['', this.pairsAt(this.#shared)]
    for (const [key, place] of this.#places) if (now < this.#endOf(place)) yield [key, this.pairsAt(place)]
  }

  /** A copy. */
  pairsAt(place: number): number[] {
    const at = this.at(place)
    return Array.from(this.pageOf(place).subarray(at, at + this.#stride))
  }

  #endOf(place: number): number {
    return lastEnd(this.pageOf(place), this.at(place), this.#lengthsMs) + GRACE_MS
  }

  /** The first page is doubled until it is full size; the others are created at full size. */
  #grow(page: number, rows: number): void {
    this.#live[page] = (this.#live[page] ?? 0) + 1
    this.#top = Math.max(this.#top, page + 1)
    const old = this.#pages[page]
    const stride = this.#stride
    if (old !== undefined && old.length >= rows * stride) return
    const length = page === 0 ? Math.min(ROWS, Math.max(FEWEST, 2 ** Math.ceil(Math.log2(rows)))) : ROWS
    this.#pages[page] = new Float64Array(length * stride)
    if (old !== undefined) this.#pages[page].set(old)
  }

  /** Releases a page without rows. */
  #drop(place: number): void {
    const page = place >> BITS
    this.#live[page]!--
    if (this.#live[page] === 0) this.#pages[page] = NO_ROWS
    this.#holes.push(place)
    while (this.#top > 0 && this.#live[this.#top - 1] === 0) this.#top--
    if (this.#holes.length + this.#far.length >= 2 * (this.#top + 1) * ROWS) this.#shrink()
  }

  /** Releases the last pages without rows, and their holes. */
  #shrink(): void {
    this.#live.length = this.#top
    this.#pages.length = this.#top
    this.#end = Math.min(this.#end, this.#top << BITS)
    this.#holes = this.#holes.filter((hole) => hole < this.#end)
    this.#far = this.#far.filter((hole) => hole < this.#end)
  }

  /** A row beyond the size of all rows moves into a hole: after a pass there are no more pages than the rows need. */
  #close(key: string, place: number): void {
    const { size } = this
    if (place < size) return
    let hole = this.#holes.pop()
    for (; hole !== undefined && hole >= size; hole = this.#holes.pop()) this.#far.push(hole)
    if (hole === undefined) return
    const from = this.at(place)
    const row = this.pageOf(place).subarray(from, from + this.#stride)
    this.#grow(hole >> BITS, (hole & (ROWS - 1)) + 1)
    this.pageOf(hole).set(row, this.at(hole))
    this.#places.set(key, hole)
    this.#drop(place)
  }

  #append(cell: CellDefinition): number {
    const before = this.#stride
    this.#cells.push(cell)
    this.#stride += 2
    this.#lengthsMs.push(cell.lengthMs)
    // Rows with slots stay as long as the slots are taken; only windows end by time.
    if (Number.isFinite(cell.lengthMs)) this.#longestMs = Math.max(this.#longestMs, cell.lengthMs)
    this.#pages = this.#pages.map((page, index) => {
      // There may be rows before any cell: those of limits that nothing here knows.
      const rows = before === 0 ? Math.min(ROWS, this.#end - index * ROWS) : page.length / before
      const longer = new Float64Array(rows * this.#stride).fill(CLOSED)
      for (let row = 0; row < rows; row++)
        longer.set(page.subarray(row * before, (row + 1) * before), row * this.#stride)
      return longer
    })
    // Doubles from the start, so that a copy can hold instants.
    this.blank = Array.from({ length: this.#stride }, () => 0.5)
    for (let i = 0; i < this.#stride; i++) this.blank[i] = i % 2 === 0 ? NOT_OPEN : 0
    return this.#cells.length - 1
  }
}

/** A store's tables, by the names of layer and category. */
export class Tables {
  /** Every table, in the order of creation. */
  readonly all: { readonly layer: string; readonly category: string; readonly table: RowTable }[] = []
  readonly #byLayer = new Map<string, Map<string, RowTable>>()

  get size(): number {
    return this.all.reduce((size, { table }) => size + table.size, 0)
  }

  of(layer: LayerSchema['name'], category: string): RowTable {
    const ofLayer = this.#byLayer.get(layer)
    const known = ofLayer?.get(category)
    if (known !== undefined) return known
    const table = new RowTable()
    this.#byLayer.set(layer, (ofLayer ?? new Map<string, RowTable>()).set(category, table))
    this.all.push({ layer, category, table })
    return table
  }

  /** Checks a few rows of each table in which any can have ended, and removes those that have. */
  step(now: number): void {
    for (const { table } of this.all) table.step(now)
  }
}

/** A table as one schema sees it: where the schema's cells are in the table's rows. */
export class TableView {
  readonly table: RowTable
  readonly places: readonly number[]
  /** The same as the place of the first of their two numbers. */
  readonly offsets: readonly number[]

  constructor(table: RowTable, cells: readonly CellDefinition[]) {
    this.table = table
    this.places = table.placesOf(cells)
    this.offsets = this.places.map((place) => 2 * place)
  }
}

/**
 * Entries that a step visits: two per decision between two steps keep a table at most twice as large as its live
 * entries.
 */
const LOOKS = 16
/** How long ended entries may stay before the next pass begins, as a part of the longest life of an entry. */
const LINGER = 1 / 16
/** A table may double, and grow by this many entries, before the next pass begins early. */
const MAY_GROW = 64

/**
 * Forgets ended entries of a table in small steps, as a part of its use: no timers, no pauses. A pass looks at every
 * entry once; until the first of those that it kept can have ended, and a little longer, nothing is checked, unless the
 * table grows: entries that came later may have ended sooner.
 */
export class Sweeper<V> {
  readonly #entries: Map<string, V>
  readonly #endsAt: (entry: V) => number
  #pass: MapIterator<[string, V]> | undefined
  /** The earliest end among the entries that this pass kept. */
  #earliest = Number.POSITIVE_INFINITY
  #passedAt = 0
  #nextPassAt = 0
  #nextPassFrom = MAY_GROW

  readonly #listener: { dropped?(entry: V): void; kept?(key: string, entry: V): void }

  /** @param endsAt from when an entry can be removed, epoch milliseconds; it may only become later */
  constructor(
    entries: Map<string, V>,
    endsAt: (entry: V) => number,
    listener: { dropped?(entry: V): void; kept?(key: string, entry: V): void } = {},
  ) {
    this.#entries = entries
    this.#endsAt = endsAt
    this.#listener = listener
  }

  /** A step, if there is anything to check. */
  step(now: number, lifeMs: number): void {
    if (now >= this.#nextPassAt || this.#isDueEarly(now)) this.sweep(now, lifeMs, LOOKS)
  }

  /** Also after the clock stepped back: the plan for the next pass was made for another time. */
  #isDueEarly(now: number): boolean {
    return this.#pass !== undefined || this.#entries.size >= this.#nextPassFrom || now < this.#passedAt
  }

  /** Checks the next `most` entries. */
  sweep(now: number, lifeMs: number, most: number): void {
    for (let looked = 0; looked < most; looked++) {
      this.#pass ??= this.#entries.entries()
      const next = this.#pass.next()
      if (next.done) {
        this.#pass = undefined
        this.#passedAt = now
        this.#nextPassFrom = 2 * this.#entries.size + MAY_GROW
        this.#nextPassAt = Math.max(Math.min(this.#earliest, now + lifeMs), now + lifeMs * LINGER)
        this.#earliest = Number.POSITIVE_INFINITY
        return
      }
      const [key, entry] = next.value
      const endsAt = this.#endsAt(entry)
      if (now >= endsAt) {
        this.#entries.delete(key)
        this.#listener.dropped?.(entry)
      } else {
        this.#earliest = Math.min(this.#earliest, endsAt)
        this.#listener.kept?.(key, entry)
      }
    }
  }
}
