import type { CellDefinition } from '../windows/identity.ts'
import type { RowTable } from './row-table.ts'

/** A table as one schema sees it: where each of the schema's cells stands in the table's rows. */
export class TableView {
  readonly table: RowTable
  readonly places: readonly number[]
  /** The same as the first of their two numbers. */
  readonly offsets: readonly number[]

  constructor(table: RowTable, cells: readonly CellDefinition[]) {
    this.table = table
    this.places = table.placesOf(cells)
    this.offsets = this.places.map((place) => 2 * place)
  }
}
