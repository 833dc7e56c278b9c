import { type CellSchema, MAX_AHEAD_MS } from '@scoregw/quota/store'

/** The names of an amount to add to a cell in a statement, and of what its guard reads. */
export interface Amount {
  /** Below 0 to add nothing. */
  readonly sum: string
  readonly limit: string
  /** The start of a cell that opens now. */
  readonly opensAt: string
  /** How many tokens a bucket refills in half its length; 0 for none. */
  readonly rate: string
  readonly now: string
}

/** A stored cell and an amount to add to it, as SQL. */
export interface AddedCell {
  /** Whether the amount fits. */
  readonly fits: string
  /** The cell's start and sum afterwards. */
  readonly start: string
  readonly used: string
}

/** A stored cell at the time of a charge. */
interface Found {
  /** Whether the charge adds to what was used. Otherwise the cell opens now. */
  readonly isOpen: string
  /** How much is used; for a bucket, less what was refilled. */
  readonly used: string
  /**
   * For a bucket: when its start moves, by how much, and the refill in that time. Moving the start keeps the cell's
   * numbers small.
   */
  readonly move?: { readonly when: string; readonly byMs: number; readonly back: string }
}

/** Charges cell `c` of the stored row `r`, by the rules of `roll` and `add` in the core. */
export function addedCell(cell: CellSchema, c: number, amount: Amount): AddedCell {
  const [start, used] = [`r.cells[${2 * c + 1}]`, `r.cells[${2 * c + 2}]`]
  const { sum, limit, opensAt, now } = amount
  const found = cell.kind === 'bucket' ? bucket(cell, start, used, amount) : window(cell, start, used, amount)
  const { isOpen, move } = found
  const moved = (value: string): string => (move === undefined ? '' : `when ${move.when} then ${value}`)
  return {
    fits: `(${sum} < 0 or ${used} >= 0 and ${start} <= ${now} + ${MAX_AHEAD_MS}
      and case when ${isOpen} then ${found.used} else 0 end + ${sum} <= ${limit})`,
    start: `case when ${sum} < 0 then ${start} when not ${isOpen} then greatest(${opensAt}, ${start} + 1)
      ${moved(`${start} + ${move?.byMs}`)} else ${start} end`,
    used: `case when ${sum} < 0 then ${used} when not ${isOpen} then ${sum}
      ${moved(`${used} - ${move?.back} + ${sum}`)} else ${used} + ${sum} end`,
  }
}

function window({ kind, lengthMs }: CellSchema, start: string, used: string, { opensAt }: Amount): Found {
  return { isOpen: `(${start} > ${opensAt} - ${kind === 'calendar' ? 1 : lengthMs})`, used }
}

/** Like `rollBucket` in the core. Products may exceed a bigint, so they are `numeric`. */
function bucket({ lengthMs }: CellSchema, start: string, used: string, { opensAt, rate, now }: Amount): Found {
  const [age, perMs] = [`(${now} - ${start})`, lengthMs / 2]
  const back = `div(least(${age}, ${lengthMs})::numeric * ${rate}, ${perMs})::bigint`
  return {
    isOpen: `(${start} > ${opensAt} - ${lengthMs} and (${rate} = 0 or ${age} <= 0 or ${back} < ${used}))`,
    used: `${used} - ${back}`,
    move: { when: `${rate} > 0 and ${age} >= ${perMs}`, byMs: perMs, back: rate },
  }
}
