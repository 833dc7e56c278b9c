import type { Layout } from '../windows/layout.ts'
import { closedRow, lastEnd } from '../windows/row.ts'
import { CLOSED, GRACE_MS, type WindowDefinition } from '../windows/window.ts'
import { Sweeper } from './sweeper.ts'

/** A row of windows, see `windows/row.ts`. */
export type Row = number[]

/**
 * The rows of one layer and category, by subject key; the layer that everybody shares has the key `''`. Every policy
 * that was ever opened on the table has its windows in it: they stand in the order in which they came.
 */
export class RowTable {
  readonly #windows: WindowDefinition[] = []
  readonly #lengthsMs: number[] = []
  #lifeMs = 0
  readonly #rows = new Map<string, Row>()
  #sharedRow: Row | undefined
  readonly #sweeper = new Sweeper(this.#rows, (row) => this.#endOf(row))

  get size(): number {
    return this.#rows.size + (this.#sharedRow === undefined ? 0 : 1)
  }

  get windows(): readonly WindowDefinition[] {
    return this.#windows
  }

  /** Where the windows of a layout stand in this table's rows; those that are new to it come last. */
  placesOf({ windows }: Pick<Layout, 'windows'>): readonly number[] {
    return windows.map((window) => {
      const known = this.#windows.findIndex(
        ({ label, lengthMs }) => label === window.label && lengthMs === window.lengthMs,
      )
      return known === -1 ? this.#append(window) : known
    })
  }

  find(key: string): Row | undefined {
    return key === '' ? this.#sharedRow : this.#rows.get(key)
  }

  /** Adds a row whose windows never opened; the caller knows that there is none. */
  add(key: string): Row {
    const row = closedRow(this.#windows.length)
    if (key === '') this.#sharedRow = row
    else this.#rows.set(key, row)
    return row
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
  *rows(now: number): Generator<readonly [key: string, cells: Row]> {
    if (this.#sharedRow !== undefined && now < this.#endOf(this.#sharedRow)) yield ['', [...this.#sharedRow]]
    for (const [key, row] of this.#rows) if (now < this.#endOf(row)) yield [key, [...row]]
  }

  #endOf(row: Row): number {
    return lastEnd(row, 0, this.#lengthsMs) + GRACE_MS
  }

  #append(window: WindowDefinition): number {
    this.#windows.push(window)
    this.#lengthsMs.push(window.lengthMs)
    this.#lifeMs = Math.max(this.#lifeMs, window.lengthMs + GRACE_MS)
    for (const row of this.#rows.values()) row.push(CLOSED, CLOSED)
    this.#sharedRow?.push(CLOSED, CLOSED)
    return this.#windows.length - 1
  }
}
