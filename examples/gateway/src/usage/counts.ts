import { OUTCOME_COLUMNS, type OutcomeColumn } from '@scoregw/quota/adaptive'

/** How many requests ended in which way. */
export type Counts = Record<OutcomeColumn, number>

export function noCounts(): Counts {
  return Object.fromEntries(OUTCOME_COLUMNS.map((column) => [column, 0])) as Counts
}

/** Adds to a sum, in place. */
export function addCounts(sum: Counts, more: Readonly<Counts>): void {
  for (const column of OUTCOME_COLUMNS) sum[column] += more[column]
}
