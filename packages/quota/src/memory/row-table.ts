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
  readonly #shared: boolean
  readonly #rows = new Map<string, Row>()
  #sharedRow: Row | undefined
  #sweeper: MapIterator<[string, Row]> | undefined

  constructor(lengthsMs: readonly number[], shared: boolean) {
    this.#lengthsMs = lengthsMs
    this.#shared = shared
  }

  get size(): number {
    return this.#sharedRow === undefined ? this.#rows.size : 1
  }

  find(key: string): Row | undefined {
    return this.#shared ? this.#sharedRow : this.#rows.get(key)
  }

  /** Adds a row whose windows never opened; the caller knows that there is none. */
  add(key: string): Row {
    const row = closedRow(this.#lengthsMs.length)
    if (this.#shared) this.#sharedRow = row
    else this.#rows.set(key, row)
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
