import type { Layout } from '../windows/layout.ts'
import { CLOSED } from '../windows/window.ts'
import type { Row, RowTable } from './row-table.ts'

/** A table as one layout sees it: only the windows of the layout, in its order. */
export class TableView {
  readonly table: RowTable
  /**
   * Whether the layout's windows are the first of the table's, in the same order: then the table's rows are used as they
   * are. It is so unless policies with other windows were opened before.
   */
  readonly isStraight: boolean
  readonly #places: readonly number[]

  constructor(table: RowTable, layout: Layout) {
    this.table = table
    this.#places = table.placesOf(layout)
    this.isStraight = this.#places.every((place, index) => place === index)
  }

  /** The row itself where {@link isStraight}; else a copy of its windows, to be {@link put} back after a change. */
  find(key: string): Row | undefined {
    const row = this.table.find(key)
    return row === undefined || this.isStraight ? row : this.#copyOf(row)
  }

  add(key: string): Row {
    const row = this.table.add(key)
    return this.isStraight ? row : this.#copyOf(row)
  }

  /** Writes a copy's windows back; those of other layouts stay as they are. */
  put(key: string, copy: Row): void {
    const row = this.table.find(key)!
    for (const [index, place] of this.#places.entries()) {
      row[2 * place] = copy[2 * index]!
      row[2 * place + 1] = copy[2 * index + 1]!
    }
  }

  #copyOf(row: Row): Row {
    return this.#places.flatMap((place) => [row[2 * place] ?? CLOSED, row[2 * place + 1] ?? CLOSED])
  }
}
