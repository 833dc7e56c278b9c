import type { Amounts } from '@scoregw/quota/store'
import type { LeaseBatch } from './batch.ts'

/** What a hold was charged in rows of another slot, before it comes to its own. */
export interface SharedCharge {
  /** Of the take or growth: identifies whose charge the record has, where it is sent again. */
  readonly mark: string
  /** Which rows, as text that scripts pass on; empty: that is yet to be said, by a growth of nothing. */
  readonly of: string
  /** Of each window in turn: when it was opened (epoch milliseconds) and what was charged to it. */
  readonly cells: readonly number[]
}

/** @see `lua/hold-shared.lua` */
export function encodeShared(batch: LeaseBatch, charge: SharedCharge | undefined): void {
  if (charge === undefined) {
    batch.text('')
    return
  }
  batch.text(charge.mark, charge.of)
  batch.number(charge.cells.length / 2)
  batch.numbers(charge.cells)
}

/** What a hold that was ended had in another slot. Its receiver gives it back: nobody else will. */
export interface FreedAmounts {
  /** So much goes back, of each window at most what it was charged. */
  readonly amounts: Amounts
  readonly rows: readonly FreedRows[]
}

/** What was charged in some rows; where one hold has several, its policy changed in between. */
export interface FreedRows {
  readonly of: string
  /** Of each window in turn: when what was charged was opened, and how much that is. */
  readonly cells: readonly number[]
}

/** What a script says of it; `undefined` where it ended no hold, or none with a charge elsewhere. */
export function readFreed(text: Buffer): FreedAmounts | undefined {
  if (text.length === 0) return undefined
  const [units, ...facts] = JSON.parse(text.toString()) as [number, ...(string | number)[]]
  const rows: FreedRows[] = []
  for (let at = 2 * units; at < facts.length; ) {
    const end = at + 2 + 2 * (facts[at + 1] as number)
    rows.push({ of: facts[at] as string, cells: facts.slice(at + 2, end) as number[] })
    at = end
  }
  const amounts = facts.slice(0, 2 * units)
  const entries = Array.from({ length: units }, (_, unit) => [amounts[2 * unit], amounts[2 * unit + 1]])
  return { amounts: Object.fromEntries(entries) as Amounts, rows }
}
