import type { Layout } from '../windows/layout.ts'
import { CLOSED } from '../windows/window.ts'
import type { Row, RowTable } from './row-table.ts'

/** A table as one layout sees it: only the cells of the layout, in its order. */
export class TableView {
  readonly table: RowTable
  /**
   * Whether the layout's cells are the first of the table's, in the same order: then the table's rows are used as they
   * are. It is so unless policies with other limits were opened before.
   */
  readonly isStraight: boolean
  /** Where each of the layout's cells stands in the table's rows. */
  readonly places: readonly number[]

  constructor(table: RowTable, layout: Layout) {
    this.table = table
    this.places = table.placesOf(layout.cells)
    this.isStraight = this.places.every((place, index) => place === index)
  }

  /** The row itself where {@link isStraight}; else a copy of its cells, to be {@link put} back after a change. */
  find(key: string): Row | undefined {
    const row = this.table.find(key)
    return row === undefined || this.isStraight ? row : this.seen(row)
  }

  add(key: string): Row {
    const row = this.table.add(key)
    return this.isStraight ? row : this.seen(row)
  }

  /** Writes a copy's cells back; those of other layouts stay as they are. */
  put(key: string, copy: Row): void {
    const row = this.table.find(key)!
    for (const [index, place] of this.places.entries()) {
      row[2 * place] = copy[2 * index]!
      row[2 * place + 1] = copy[2 * index + 1]!
    }
  }

  /** The pairs of the layout's cells among those of the table's, in the layout's order. */
  seen(pairs: readonly number[]): number[] {
    return this.places.flatMap((place) => [pairs[2 * place] ?? CLOSED, pairs[2 * place + 1] ?? CLOSED])
  }
}
