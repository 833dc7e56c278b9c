import type { LayerDefinition } from '../policy/policy.ts'
import { layerKey, type Subject } from '../store/quota-store.ts'
import { closedRow, isForgettable } from '../windows/row.ts'

/**
 * How long a row is kept after its last window ended, so that a clock stepping back a little finds it again. In
 * milliseconds.
 */
export const GRACE_MS = 60_000

/** A row of windows, see `windows/row.ts`. */
export type Row = number[]

/** The rows of one layer and category, by key; a layer that everybody shares has one row and no keys. */
export class RowTable {
  readonly #lengthsMs: readonly number[]
  readonly #layer: LayerDefinition
  readonly #rows = new Map<string, Row>()
  #sharedRow: Row | undefined
  #sweeper: MapIterator<[string, Row]> | undefined

  constructor(lengthsMs: readonly number[], layer: LayerDefinition) {
    this.#lengthsMs = lengthsMs
    this.#layer = layer
  }

  get size(): number {
    return this.#sharedRow === undefined ? this.#rows.size : 1
  }

  find(subject: Subject): Row | undefined {
    return this.#layer.shared ? this.#sharedRow : this.#rows.get(layerKey(this.#layer, subject))
  }

  /** Adds a row whose windows never opened; the caller knows that there is none. */
  add(subject: Subject): Row {
    const row = closedRow(this.#lengthsMs.length)
    if (this.#layer.shared) this.#sharedRow = row
    else this.#rows.set(layerKey(this.#layer, subject), row)
    return row
  }

  /** Looks at the next few rows and forgets those whose windows all ended. */
  sweep(now: number, most: number): void {
    for (let looked = 0; looked < most; looked++) {
      this.#sweeper ??= this.#rows.entries()
      const next = this.#sweeper.next()
      if (next.done) {
        this.#sweeper = undefined
        return
      }
      const [key, row] = next.value
      if (isForgettable(row, 0, this.#lengthsMs, now, GRACE_MS)) this.#rows.delete(key)
    }
  }

  /** Every row that still says something. */
  *rows(now: number): Generator<readonly [key: string, cells: Row]> {
    const rows = this.#sharedRow === undefined ? this.#rows : ([['', this.#sharedRow]] as const)
    for (const [key, row] of rows) {
      if (!isForgettable(row, 0, this.#lengthsMs, now, GRACE_MS)) yield [key, [...row]]
    }
  }
}
