import type { CellSchema } from '../windows/identity.ts'
import { closedRow, lastEnd } from '../windows/row.ts'
import { CLOSED, GRACE_MS } from '../windows/window.ts'
import { Sweeper } from './sweeper.ts'

/**
 * `[added, ...pairs]`: the pairs of a row's cells, see `windows/row.ts`, and what was charged to every one of them since
 * they were written. A charge of open windows is one addition to the first number. The pairs of a row that is in a table
 * are never written in place: decisions keep the row, and what was added to it by then, and have their states of it.
 */
export type Row = number[]

/** Where the pairs of a {@link Row} begin. */
export const PAIRS = 1

/** A row whose cells never opened. */
export function blankRow(cells: number): Row {
  return copyOf([0, ...closedRow(cells)])
}

/** Another row that says the same, with nothing added to its pairs. */
function writable(row: Row): Row {
  const copy = copyOf(row)
  const added = copy[0]!
  if (added === 0) return copy
  copy[0] = 0
  for (let i = PAIRS + 1; i < copy.length; i += 2) if (copy[i] !== CLOSED) copy[i]! += added
  return copy
}

/** An array that was made of fractions holds plain doubles; one of small integers would be copied at the first instant. */
function copyOf(row: Row): Row {
  const copy = new Array<number>(row.length).fill(0.5)
  for (let i = 0; i < row.length; i++) copy[i] = row[i]!
  return copy
}

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

  /** The row as it is kept: only its first number may be written. */
  kept(key: string): Row | undefined {
    return key === '' ? this.#sharedRow : this.#rows.get(key)
  }

  /** A copy with nothing added to its pairs, to be {@link put} after a change. */
  find(key: string): Row | undefined {
    const row = this.kept(key)
    return row && writable(row)
  }

  /** The row of a subject from now on; whoever puts it writes it no more. */
  put(key: string, row: Row): void {
    if (key === '') this.#sharedRow = row
    else this.#rows.set(key, row)
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
  *rows(now: number): Generator<readonly [key: string, pairs: number[]]> {
    if (this.#sharedRow !== undefined && now < this.#endOf(this.#sharedRow)) yield ['', pairsOf(this.#sharedRow)]
    for (const [key, row] of this.#rows) if (now < this.#endOf(row)) yield [key, pairsOf(row)]
  }

  #endOf(row: Row): number {
    return lastEnd(row, PAIRS, this.#lengthsMs) + GRACE_MS
  }

  #append(cell: CellSchema): number {
    this.#cells.push(cell)
    this.#lengthsMs.push(cell.lengthMs)
    // Rows with slots taken stay as long as those are; it is windows that end by themselves.
    if (Number.isFinite(cell.lengthMs)) this.#lifeMs = Math.max(this.#lifeMs, cell.lengthMs + GRACE_MS)
    // What was added is never added to a closed cell, see `writable`.
    const longer = (row: Row): Row => copyOf([...row, CLOSED, CLOSED])
    for (const [key, row] of this.#rows) this.#rows.set(key, longer(row))
    if (this.#sharedRow !== undefined) this.#sharedRow = longer(this.#sharedRow)
    return this.#cells.length - 1
  }
}

function pairsOf(row: Row): number[] {
  return writable(row).slice(PAIRS)
}
