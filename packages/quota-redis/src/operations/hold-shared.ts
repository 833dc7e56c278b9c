import type { Call } from './operation.ts'

/** What a hold was charged in rows of another slot, before it comes to its own. */
export interface SharedCharge {
  /** Of the take or growth: tells whose tokens the record has, where it is asked for again. */
  readonly mark: string
  /** Which rows, as text that scripts pass on; empty: that is yet to be said, by a growth of nothing. */
  readonly of: string
  readonly tokens: number
  /** When the windows of the rows were opened that were charged, epoch milliseconds. */
  readonly starts: readonly number[]
}

export function encodeShared(call: Call, charge: SharedCharge | undefined): void {
  if (charge === undefined) call.words('')
  else call.words(charge.mark, charge.of, charge.tokens, charge.starts.length, ...charge.starts)
}

/** What a hold that was ended had in another slot. Whoever hears of it gives it back: nobody else will. */
export interface FreedTokens {
  /** So many go back, of each window at most what it was charged. */
  readonly tokens: number
  readonly rows: readonly FreedRows[]
}

/** What was charged in some rows; where one hold has several, its policy changed in between. */
export interface FreedRows {
  readonly of: string
  /** Of each window in turn: when what was charged was opened, and how much that is. */
  readonly cells: readonly number[]
}

/** What a script says of it; `undefined` where it ended no hold, or none with tokens elsewhere. */
export function readFreed(text: Buffer): FreedTokens | undefined {
  if (text.length === 0) return undefined
  const [tokens, ...facts] = JSON.parse(text.toString()) as [number, ...(string | number)[]]
  const rows: FreedRows[] = []
  for (let at = 0; at < facts.length; ) {
    const end = at + 2 + 2 * (facts[at + 1] as number)
    rows.push({ of: facts[at] as string, cells: facts.slice(at + 2, end) as number[] })
    at = end
  }
  return { tokens, rows }
}
