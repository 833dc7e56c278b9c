import type { Asked } from './asked.ts'
import type { Changes } from './changes.ts'
import type { Stored } from './step.ts'
import { StoredRow } from './stored.ts'

/** Most rows that are remembered: some hundred bytes each. */
const MAX_ROWS = 20_000

/**
 * Rows as this process last saw them, by the names of their keys. Others may have changed them since: who decides by them
 * has the database compare.
 */
export class KnownRows {
  readonly #rows = new Map<string, StoredRow>()

  has({ rows }: Asked): boolean {
    for (const name of rows.keys()) if (!this.#rows.has(name)) return false
    return true
  }

  /** The rows that are asked for, as far as they are known. */
  of({ rows }: Asked): ReadonlyMap<string, StoredRow> {
    const found = new Map<string, StoredRow>()
    for (const name of rows.keys()) {
      const row = this.#rows.get(name)
      if (row !== undefined) found.set(name, row)
    }
    return found
  }

  /** What was read, and changed by a commit. */
  learn({ rows }: Pick<Stored, 'rows'>, changes: Changes): void {
    for (const [name, row] of rows) this.#keep(name, row)
    this.learnChanges(changes)
  }

  learnChanges({ rows }: Pick<Changes, 'rows'>): void {
    for (const { name, text, cells } of rows) this.#keep(name, new StoredRow(text, cells))
  }

  #keep(name: string, row: StoredRow): void {
    this.#rows.set(name, row)
    if (this.#rows.size <= MAX_ROWS) return
    const [oldest] = this.#rows.keys()
    if (oldest !== undefined) this.#rows.delete(oldest)
  }
}
