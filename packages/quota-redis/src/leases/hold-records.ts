import { type Amounts, amountBack, grownCharge, SLOTS } from '@scoregw/quota/store'
import type { ListBook } from '../counters/lists.ts'
import type { Caller } from '../counters/operation.ts'
import type { SharedPart, SharedRows } from '../counters/record.ts'
import { type Changed, type Decide, type Decided, endedBy, RecordChanges } from '../counters/record-changes.ts'
import type { Keys, RecordPlace } from '../keys/keys.ts'

/** What a hold that was ended had in another slot. Its receiver gives it back, and no other process does. */
export interface FreedAmounts {
  /** So much goes back, of each window at most what it was charged. */
  readonly amounts: Amounts
  readonly rows: readonly SharedRows[]
}

/** What a take or growth was charged in another slot. */
export interface SharedCharge extends SharedRows {
  /** Identifies whose charge the record has, where it is sent again. */
  readonly mark: string
}

/** Changes to records of holds with a part in another slot: the process that ends one gets that part, once. */
export class HoldRecords extends RecordChanges {
  readonly #refund: (freed: FreedAmounts) => Promise<void>

  /** @param refund gets what a hold had that was ended here; never rejects */
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
      // A sending whose answer was lost has ended the hold.
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

/** What goes back of each unit. */
function backOf(costs: Amounts, most: (unit: string) => number = () => Number.POSITIVE_INFINITY): Amounts {
  const tokens = Object.entries(costs).filter(([unit]) => unit !== SLOTS)
  return Object.fromEntries(tokens.map(([unit, cost]) => [unit, amountBack(cost, unit, most)]))
}

/** A decision that also notes what its hold was charged in another slot. */
export function withCharge<T>(decided: Decided<T>, charge: SharedCharge): Decided<T> {
  const { change } = decided
  if (change === undefined || change === 'forget' || change.after.hold === undefined) return decided
  const { after } = change
  const hold = { ...change.after.hold, shared: charged(change.after.hold.shared, charge) }
  return { ...decided, change: { ...change, after: { ...after, hold } } }
}

/** A part with one charge more. As of rows here, of two openings the newer one counts. */
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
