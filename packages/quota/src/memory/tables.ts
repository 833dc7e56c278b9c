import type { LayerSchema } from '../store/schema.ts'
import { RowTable } from './row-table.ts'

/** The tables of a store, recognised by the names of layer and category. */
export class Tables {
  readonly #tables = new Map<string, { readonly layer: string; readonly category: string; readonly table: RowTable }>()

  get size(): number {
    let size = 0
    for (const { table } of this.#tables.values()) size += table.size
    return size
  }

  of(layer: LayerSchema['name'], category: string): RowTable {
    const key = JSON.stringify([layer, category])
    const known = this.#tables.get(key)
    if (known !== undefined) return known.table
    const table = new RowTable()
    this.#tables.set(key, { layer, category, table })
    return table
  }

  /** Looks at a few rows of each table where any can have ended, and forgets those that have. */
  step(now: number): void {
    for (const { table } of this.#tables.values()) table.step(now)
  }

  entries(): IterableIterator<{ readonly layer: string; readonly category: string; readonly table: RowTable }> {
    return this.#tables.values()
  }
}
