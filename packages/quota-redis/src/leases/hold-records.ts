import { type Amounts, amountBack, grownCharge, SLOTS } from '@scoregw/quota/store'
import type { ListBook } from '../counters/lists.ts'
import type { Caller } from '../counters/operation.ts'
import type { SharedPart, SharedRows } from '../counters/record.ts'
import { type Changed, type Decide, type Decided, endedBy, RecordChanges } from '../counters/record-changes.ts'
import type { Keys, RecordPlace } from '../keys/keys.ts'

/** Amounts of an ended hold in another slot. Only the process that receives them refunds them. */
export interface FreedAmounts {
  /** The amount to refund per unit. Each window gets at most what it was charged. */
  readonly amounts: Amounts
  readonly rows: readonly SharedRows[]
}

/** The charge of a take or growth in another slot. */
export interface SharedCharge extends SharedRows {
  /** Identifies the charge in the record, if it is sent again. */
  readonly mark: string
}

/**
 * Changes to records of holds with charges in another slot. The process that ends a hold receives those charges, once.
 */
export class HoldRecords extends RecordChanges {
  readonly #refund: (freed: FreedAmounts) => Promise<void>

  /** @param refund receives the charges in other slots of holds that end here; never rejects */
  constructor(keys: Keys, book: ListBook, caller: Caller, refund: (freed: FreedAmounts) => Promise<void>) {
    super(keys, book, caller)
    this.#refund = refund
  }

  override async change<T>(place: RecordPlace, decide: Decide<T>, isAny = false): Promise<Changed<T>> {
    const last: { end?: { readonly mark: string; readonly freed: FreedAmounts } | undefined; isApplied: boolean } = {
      isApplied: false,
    }
    const decideAndFree: Decide<T> = (stored, now) => {
      const decided = decide(stored, now)
      // An earlier attempt, whose reply was lost, has ended the hold.
      last.isApplied ||= last.end !== undefined && stored?.mark === last.end.mark
      if (last.isApplied) return decided
      const { change } = decided
      const ended = change === undefined || change === 'forget' ? undefined : endedBy(stored, change)
      if (ended?.shared === undefined || change === undefined || change === 'forget') {
        last.end = undefined
        return decided
      }
      const { mark, rows } = ended.shared
      last.end = { mark: change.after.mark, freed: { amounts: backOf(ended.costs, change.mostBack), rows } }
      const hold = { ...change.after.hold!, shared: { mark, rows: [] } }
      return { ...decided, change: { ...change, after: { ...change.after, hold } } }
    }
    const changed = await super.change(place, decideAndFree, isAny)
    const { end, isApplied } = last
    if (end !== undefined && end.freed.rows.length > 0 && (isApplied || changed.isDone)) await this.#refund(end.freed)
    return changed
  }
}

/** The refund per unit. */
function backOf(costs: Amounts, most: (unit: string) => number = () => Number.POSITIVE_INFINITY): Amounts {
  const tokens = Object.entries(costs).filter(([unit]) => unit !== SLOTS)
  return Object.fromEntries(tokens.map(([unit, cost]) => [unit, amountBack(cost, unit, most)]))
}

/** A decision that also stores the charge of its hold in another slot. */
export function withCharge<T>(decided: Decided<T>, charge: SharedCharge): Decided<T> {
  const { change } = decided
  if (change === undefined || change === 'forget' || change.after.hold === undefined) return decided
  const { after } = change
  const hold = { ...change.after.hold, shared: charged(change.after.hold.shared, charge) }
  return { ...decided, change: { ...change, after: { ...after, hold } } }
}

/** A part with one more charge. If two openings of a window are charged, the newer one counts, as in local rows. */
function charged(before: SharedPart | undefined, { mark, of, cells }: SharedCharge): SharedPart {
  const { rows, ...part } = before ?? { mark, rows: [] }
  const had = rows.find((each) => each.of === of)
  if (had === undefined) return { ...part, rows: [...rows, { of, cells }] }
  const all: number[] = []
  for (let i = 0; i < cells.length; i += 2) {
    const [old, added] = [[had.cells[i]!, had.cells[i + 1]!] as const, [cells[i]!, cells[i + 1]!] as const]
    all.push(...(old[0] > added[0] ? old : grownCharge(old, added)))
  }
  return { ...part, rows: rows.map((each) => (each === had ? { of, cells: all } : each)) }
}
