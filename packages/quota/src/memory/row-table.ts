import type { CellSchema } from '../windows/identity.ts'
import { closedRow, lastEnd } from '../windows/row.ts'
import { CLOSED, GRACE_MS } from '../windows/window.ts'
import { Sweeper } from './sweeper.ts'

/** A row of cells, see `windows/row.ts`. */
export type Row = number[]

/**
 * The rows of one layer and category, by subject key; the layer that everybody shares has the key `''`. Every policy
 * that was ever opened on the table has its cells in it: they stand in the order in which they came.
 */
export class RowTable {
  readonly #cells: CellSchema[] = []
  readonly #lengthsMs: number[] = []
  #lifeMs = 0
  readonly #rows = new Map<string, Row>()
  #sharedRow: Row | undefined
  readonly #sweeper = new Sweeper(this.#rows, (row) => this.#endOf(row))

  get size(): number {
    return this.#rows.size + (this.#sharedRow === undefined ? 0 : 1)
  }

  get cells(): readonly CellSchema[] {
    return this.#cells
  }

  /** Where cells stand in this table's rows; those that are new to it come last. */
  placesOf(cells: readonly CellSchema[]): readonly number[] {
    return cells.map((cell) => {
      const known = this.#cells.findIndex(({ identity }) => identity === cell.identity)
      return known === -1 ? this.#append(cell) : known
    })
  }

  find(key: string): Row | undefined {
    return key === '' ? this.#sharedRow : this.#rows.get(key)
  }

  /** Adds a row whose cells never opened; the caller knows that there is none. */
  add(key: string): Row {
    const row = closedRow(this.#cells.length)
    if (key === '') this.#sharedRow = row
    else this.#rows.set(key, row)
    return row
  }

  /** Forgets every row; the cells stay where they stand. */
  clear(): void {
    this.#rows.clear()
    this.#sharedRow = undefined
  }

  /** Looks at a few rows, where any can have ended, and forgets those that have. */
  step(now: number): void {
    this.#sweeper.step(now, this.#lifeMs)
  }

  /** Looks at the next rows, `most` of them, and forgets those that ended. */
  sweep(now: number, most: number): void {
    this.#sweeper.sweep(now, this.#lifeMs, most)
  }

  /** Every row that still says something. */
  *rows(now: number): Generator<readonly [key: string, cells: Row]> {
    if (this.#sharedRow !== undefined && now < this.#endOf(this.#sharedRow)) yield ['', [...this.#sharedRow]]
    for (const [key, row] of this.#rows) if (now < this.#endOf(row)) yield [key, [...row]]
  }

  #endOf(row: Row): number {
    return lastEnd(row, 0, this.#lengthsMs) + GRACE_MS
  }

  #append(cell: CellSchema): number {
    this.#cells.push(cell)
    this.#lengthsMs.push(cell.lengthMs)
    // Rows with slots taken stay as long as those are; it is windows that end by themselves.
    if (Number.isFinite(cell.lengthMs)) this.#lifeMs = Math.max(this.#lifeMs, cell.lengthMs + GRACE_MS)
    for (const row of this.#rows.values()) row.push(CLOSED, CLOSED)
    this.#sharedRow?.push(CLOSED, CLOSED)
    return this.#cells.length - 1
  }
}
