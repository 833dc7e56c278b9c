import type { CellSchema } from '../windows/identity.ts'
import { closedRow, lastEnd } from '../windows/row.ts'
import { CLOSED, GRACE_MS } from '../windows/window.ts'
import { Sweeper } from './sweeper.ts'
import { YoungRow } from './young-row.ts'

/**
 * `[added, ...pairs]`: the pairs of a row's cells, see `windows/row.ts`, and what was charged to every one of them since
 * they were written. A charge of open windows is one addition to the first number. The pairs of a row that is in a table
 * are never written in place: decisions keep the row, and what was added to it by then, and have their states of it.
 */
export type Row = number[]

/** A row as a table keeps it: the short form wherever it says the same. */
export type KeptRow = Row | YoungRow

/** Where the pairs of a {@link Row} begin. */
export const PAIRS = 1

/** A row whose cells never opened. */
export function blankRow(cells: number): Row {
  return copyOf([0, ...closedRow(cells)])
}

/** Another row that says the same, with nothing added to its pairs. */
function writable(row: KeptRow, cells: number): Row {
  if (row instanceof YoungRow) return grown(row, cells)
  const copy = copyOf(row)
  const added = copy[0]!
  if (added === 0) return copy
  copy[0] = 0
  for (let i = PAIRS + 1; i < copy.length; i += 2) if (copy[i] !== CLOSED) copy[i]! += added
  return copy
}

function grown({ startedAt, used }: YoungRow, cells: number): Row {
  const row = blankRow(cells)
  for (let i = PAIRS; i < row.length; i += 2) {
    row[i] = startedAt
    row[i + 1] = used
  }
  return row
}

/** The short form of a row with nothing added to its pairs; `undefined`: it says more than that has room for. */
function youngOf(row: Row): YoungRow | undefined {
  const startedAt = row[PAIRS]
  const used = row[PAIRS + 1]
  if (startedAt === undefined || used === undefined) return undefined
  if (startedAt < 0 || used < 0 || used > YoungRow.MOST) return undefined
  for (let i = PAIRS + 2; i < row.length; i += 2) if (row[i] !== startedAt || row[i + 1] !== used) return undefined
  return new YoungRow(startedAt, used)
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
  /** Of the windows, in milliseconds. */
  #longestMs = 0
  /** Whether every cell is one of a window, which is all that a {@link YoungRow} knows of. */
  #hasWindowsAlone = true
  readonly #rows = new Map<string, KeptRow>()
  #sharedRow: KeptRow | undefined
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

  /** The row as it is kept: only what was added to it may be written. */
  kept(key: string): KeptRow | undefined {
    return key === '' ? this.#sharedRow : this.#rows.get(key)
  }

  /** A copy with nothing added to its pairs, to be {@link put} after a change. */
  find(key: string): Row | undefined {
    const row = this.kept(key)
    return row && writable(row, this.#cells.length)
  }

  /** The row of a subject from now on, with nothing added to its pairs; whoever puts it writes it no more. */
  put(key: string, row: Row): void {
    this.keep(key, (this.#hasWindowsAlone ? youngOf(row) : undefined) ?? row)
  }

  /** As {@link put}, in the form in which it is kept. */
  keep(key: string, row: KeptRow): void {
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
    this.#sweeper.step(now, this.#longestMs + GRACE_MS)
  }

  /** Looks at the next rows, `most` of them, and forgets those that ended. */
  sweep(now: number, most: number): void {
    this.#sweeper.sweep(now, this.#longestMs + GRACE_MS, most)
  }

  /** Every row that still says something. */
  *rows(now: number): Generator<readonly [key: string, pairs: number[]]> {
    if (this.#sharedRow !== undefined && now < this.#endOf(this.#sharedRow)) yield ['', this.#pairsOf(this.#sharedRow)]
    for (const [key, row] of this.#rows) if (now < this.#endOf(row)) yield [key, this.#pairsOf(row)]
  }

  #endOf(row: KeptRow): number {
    const end = row instanceof YoungRow ? row.startedAt + this.#longestMs : lastEnd(row, PAIRS, this.#lengthsMs)
    return end + GRACE_MS
  }

  #pairsOf(row: KeptRow): number[] {
    return writable(row, this.#cells.length).slice(PAIRS)
  }

  #append(cell: CellSchema): number {
    const cells = this.#cells.length
    const longer = (row: KeptRow): Row => copyOf([...writable(row, cells), CLOSED, CLOSED])
    this.#cells.push(cell)
    this.#lengthsMs.push(cell.lengthMs)
    // Rows with slots taken stay as long as those are; it is windows that end by themselves.
    if (Number.isFinite(cell.lengthMs)) this.#longestMs = Math.max(this.#longestMs, cell.lengthMs)
    else this.#hasWindowsAlone = false
    for (const [key, row] of this.#rows) this.#rows.set(key, longer(row))
    if (this.#sharedRow !== undefined) this.#sharedRow = longer(this.#sharedRow)
    return this.#cells.length - 1
  }
}
