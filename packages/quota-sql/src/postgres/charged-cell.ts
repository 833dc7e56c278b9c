import { MAX_AHEAD_MS, MAX_USED } from '@scoregw/quota/internal'
import type { CellSchema } from '@scoregw/quota/store'

/** SQL for what a charge adds to a cell, and for what its guard reads. */
export interface Amount {
  readonly cost: string
  readonly limit: string
  /** The start of a cell that opens now: the instant, or the start of a calendar window's period. */
  readonly opensAt: string
  /** How many tokens a bucket refills in half its length; 0 for none. */
  readonly rate: string
}

/** A stored cell and a charge of it, as SQL. */
export interface ChargedCell {
  /** Whether the charge fits. `null` for a cell that can't be read. */
  readonly fits: string
  /** The cell's start and use afterwards. */
  readonly start: string
  readonly used: string
}

/** The columns of cell `c` of the stored row `r`. */
interface Columns {
  readonly start: string
  readonly used: string
}

/**
 * Charges cell `c` of the stored row `r`, by the rules of `roll` and `add` in the core. It doesn't fit a cell that a
 * reset has closed or that starts far ahead: a step decides these. So a cell that isn't open started before `opensAt`.
 */
export function chargedCell(cell: CellSchema, c: number, amount: Amount): ChargedCell {
  const columns = { start: `r.s${c + 1}`, used: `r.u${c + 1}` }
  return cell.kind === 'bucket' ? bucket(cell, columns, amount) : window(cell, columns, amount)
}

function window({ kind, lengthMs }: CellSchema, { start, used }: Columns, amount: Amount): ChargedCell {
  const { cost, limit, opensAt } = amount
  const isOpen = `${start} > ${opensAt} - ${kind === 'calendar' ? 1 : lengthMs}`
  const sum = `case when ${isOpen} then ${used} else 0 end + ${cost}`
  return {
    fits: `${isReadable({ start, used }, amount)} and ${sum} <= ${limit}`,
    start: `case when ${isOpen} then ${start} else ${opensAt} end`,
    used: sum,
  }
}

/**
 * Like `rollBucket` in the core. Products may exceed a bigint, so they are `numeric`. Moving the start of an old bucket
 * keeps its numbers small.
 */
function bucket({ lengthMs }: CellSchema, { start, used }: Columns, amount: Amount): ChargedCell {
  const { cost, limit, opensAt, rate } = amount
  const [age, perMs] = [`(${opensAt} - ${start})`, lengthMs / 2]
  const back = `div(least(${age}, ${lengthMs})::numeric * ${rate}, ${perMs})::bigint`
  const isOpen = `(${start} > ${opensAt} - ${lengthMs} and (${rate} = 0 or ${age} <= 0 or ${back} < ${used}))`
  const isOld = `${rate} > 0 and ${age} >= ${perMs}`
  return {
    fits: `${isReadable({ start, used }, amount)} and ${used} + ${cost} <= ${MAX_USED}
      and case when ${isOpen} then ${used} - ${back} else 0 end + ${cost} <= ${limit}`,
    start: `case when not ${isOpen} then ${opensAt} when ${isOld} then ${start} + ${perMs} else ${start} end`,
    used: `case when not ${isOpen} then ${cost} when ${isOld} then ${used} - ${rate} + ${cost} else ${used} + ${cost} end`,
  }
}

function isReadable({ start, used }: Columns, { opensAt }: Amount): string {
  return `(${used} >= 0 or ${start} = -1) and ${start} <= ${opensAt} + ${MAX_AHEAD_MS}`
}
