import type { Layout } from '../windows/layout.ts'
import { blankRow, type KeptRow, PAIRS, type Row, type RowTable } from './row-table.ts'

/** A table as one layout sees it: only the cells of the layout, in its order. */
export class TableView {
  readonly table: RowTable
  /** Where each of the layout's cells stands in the table's rows. */
  readonly places: readonly number[]
  /**
   * Whether the layout's cells are the first of the table's, in the same order. It is so unless policies with other limits
   * were opened before.
   */
  readonly #isStraight: boolean

  constructor(table: RowTable, layout: Layout) {
    this.table = table
    this.places = table.placesOf(layout.cells)
    this.#isStraight = this.places.every((place, index) => place === index)
  }

  /** The row as it is kept; `null` where the table's rows have other policies' cells too, or another order. */
  kept(key: string): KeptRow | null | undefined {
    return this.#isStraight && this.places.length === this.table.cells.length ? this.table.kept(key) : null
  }

  /** A copy of a row with the layout's cells first and in its order, to be {@link put} after a change. */
  find(key: string): Row | undefined {
    const row = this.table.find(key)
    return row === undefined || this.#isStraight ? row : this.#seen(row)
  }

  /** A row whose cells never opened, as {@link find} would give it. */
  blank(): Row {
    return blankRow(this.#isStraight ? this.table.cells.length : this.places.length)
  }

  /** Writes what {@link find} gave; cells of other layouts stay as they are. */
  put(key: string, copy: Row): void {
    if (this.#isStraight) {
      this.table.put(key, copy)
      return
    }
    const row = this.table.find(key) ?? blankRow(this.table.cells.length)
    for (const [index, place] of this.places.entries()) {
      row[PAIRS + 2 * place] = copy[PAIRS + 2 * index]!
      row[PAIRS + 2 * place + 1] = copy[PAIRS + 2 * index + 1]!
    }
    this.table.put(key, row)
  }

  /** As {@link put}, in the form of {@link kept}, where that is not `null`. */
  keep(key: string, row: KeptRow): void {
    this.table.keep(key, row)
  }

  #seen(row: Row): Row {
    const seen = blankRow(this.places.length)
    for (const [index, place] of this.places.entries()) {
      seen[PAIRS + 2 * index] = row[PAIRS + 2 * place]!
      seen[PAIRS + 2 * index + 1] = row[PAIRS + 2 * place + 1]!
    }
    return seen
  }
}
