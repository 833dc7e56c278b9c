import type { LayerSchema } from '../store/subjects.ts'
import type { CellDefinition } from '../windows/identity.ts'
import { CLOSED, clearRow, GRACE_MS, lastEnd, NOT_OPEN } from '../windows/row.ts'
import { Sweeper } from './sweeper.ts'

/** A page has 2 to this power rows. The first page grows to that. */
const BITS = 10
const ROWS = 1 << BITS
const FEWEST = 4

const NO_ROWS = new Float64Array(0)

/** The position of a missing row. */
export const NOWHERE = -1

/**
 * The rows of one layer, by subject key. A shared layer has the single key `''`. A row is pairs
 * `[startedAt, used]` in a page of numbers, see `windows/row.ts`. So a subject takes these numbers and an index in a
 * map, with no objects for the garbage collector. A row has the cells of all policies that were ever opened on the
 * table, in order of arrival.
 */
export class RowTable {
  readonly #cells: CellDefinition[] = []
  readonly #lengthsMs: number[] = []
  /** The pairs of a row without open cells, to copy. */
  blank: number[] = []
  /** The longest window, in milliseconds. */
  #longestMs = 0
  readonly #places = new Map<string, number>()
  #shared = NOWHERE
  #pages: Float64Array[] = []
  /** Numbers per row. */
  #stride = 0
  /** The number of rows per page. */
  #live: number[] = []
  /** Pages from here on have no rows. */
  #top = 0
  /** Positions below {@link #end} without rows. Those beyond the number of rows are kept separately. */
  #holes: number[] = []
  #far: number[] = []
  /** All rows and holes are below this position. */
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

  /** Returns where cells are in this table's rows. New cells come last. */
  placesOf(cells: readonly CellDefinition[]): readonly number[] {
    return cells.map((cell) => {
      const known = this.#cells.findIndex(({ identity }) => identity === cell.identity)
      return known === -1 ? this.#append(cell) : known
    })
  }

  /** The position of a shared layer's row, or {@link NOWHERE}. */
  get shared(): number {
    return this.#shared
  }

  /** Returns the position of a subject's row, or {@link NOWHERE}. It is valid until rows are added or swept. */
  placeOf(key: string): number {
    return this.#places.get(key) ?? (key === '' ? this.#shared : NOWHERE)
  }

  /** Adds a row whose cells never opened. @returns its position */
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

  /** Returns where a row's pairs start in its page. */
  at(place: number): number {
    return (place & (ROWS - 1)) * this.#stride
  }

  /** Removes all rows. The cells keep their positions. */
  clear(): void {
    this.#places.clear()
    this.#shared = NOWHERE
    this.#holes = []
    this.#far = []
    this.#live = []
    this.#top = 0
    this.#end = 0
  }

  /** If any row can have ended, checks a few and removes those that have. */
  step(now: number): void {
    this.#sweeper.step(now, this.#longestMs + GRACE_MS)
  }

  /** Checks the next `most` rows, and removes those that have ended. */
  sweep(now: number, most: number): void {
    this.#sweeper.sweep(now, this.#longestMs + GRACE_MS, most)
  }

  /** Returns all rows that haven't ended. */
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

  /** Doubles the first page until it has full size. Other pages are created at full size. */
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

  /** Releases the last pages if they have no rows, and their holes. */
  #shrink(): void {
    this.#live.length = this.#top
    this.#pages.length = this.#top
    this.#end = Math.min(this.#end, this.#top << BITS)
    this.#holes = this.#holes.filter((hole) => hole < this.#end)
    this.#far = this.#far.filter((hole) => hole < this.#end)
  }

  /** Moves a row from beyond the number of rows to a hole. After a pass, there are no more pages than the rows need. */
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
    // Slots keep their row until they are freed. Only windows end by time.
    if (Number.isFinite(cell.lengthMs)) this.#longestMs = Math.max(this.#longestMs, cell.lengthMs)
    this.#pages = this.#pages.map((page, index) => {
      // Rows may exist before any cell: those with limits that no schema here knows.
      const rows = before === 0 ? Math.min(ROWS, this.#end - index * ROWS) : page.length / before
      const longer = new Float64Array(rows * this.#stride).fill(CLOSED)
      for (let row = 0; row < rows; row++)
        longer.set(page.subarray(row * before, (row + 1) * before), row * this.#stride)
      return longer
    })
    // Doubles from the start, so that a copy can hold epoch milliseconds.
    this.blank = Array.from({ length: this.#stride }, () => 0.5)
    for (let i = 0; i < this.#stride; i++) this.blank[i] = i % 2 === 0 ? NOT_OPEN : 0
    return this.#cells.length - 1
  }
}

/** The tables of a store, by layer. */
export class Tables {
  /** Every table, in the order of creation. */
  readonly all: Map<string, RowTable> = new Map()

  get size(): number {
    let size = 0
    for (const table of this.all.values()) size += table.size
    return size
  }

  of(layer: LayerSchema['name']): RowTable {
    const known = this.all.get(layer)
    if (known !== undefined) return known
    const table = new RowTable()
    this.all.set(layer, table)
    return table
  }

  /** In each table where any row can have ended, checks a few and removes those that have. */
  step(now: number): void {
    for (const table of this.all.values()) table.step(now)
  }
}
