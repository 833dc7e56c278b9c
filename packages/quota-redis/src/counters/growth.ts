import { grownCosts, holdOutcome, named } from '@scoregw/quota/internal'
import type { GrowRequest, HoldReply } from '@scoregw/quota/store'
import { newMark, withGrowth } from './record.ts'
import { type Changed, type Decide, type Decided, isOpenHold, seenAt } from './record-changes.ts'

/** The outcome of a growth, if it is applied. */
type GrowthResult = Pick<HoldReply, 'outcome' | 'endsAt'> & { readonly isCharged?: boolean | undefined }

/** Decides on a growth. */
export function growthOf(request: GrowRequest, units: readonly string[]): Decide<GrowthResult> {
  const { subject, set, quotas, periods, settingsRevision, costs, id } = request
  const take = { subject, set, quotas, periods, settingsRevision }
  // The record keeps it, so that a growth whose reply was lost is not charged again.
  const mark = newMark()
  return (stored, at): Decided<GrowthResult> => {
    const { record, ended } = seenAt(stored, at)
    const outcome = holdOutcome(record, id)
    if (outcome !== 'held' || !isOpenHold(record)) return { result: { outcome }, change: ended }
    const { hold } = record
    const { endsAt } = hold
    // An earlier attempt, whose reply was lost, has applied it.
    if (hold.growths.includes(mark)) return { result: { outcome, endsAt } }
    const within = { keepMs: hold.keepMs, until: endsAt }
    const all = grownCosts(hold.costs, named(units, costs))
    if (all === undefined) {
      // Nothing is charged. The states are read in the same step that finds the hold open.
      const nothing = { mode: 'charge', take, costs: units.map(() => 0) } as const
      const change = { ...within, after: { ...record, mark: newMark() }, more: nothing }
      return { result: { outcome: 'refused' }, change }
    }
    const grown = { ...hold, costs: all, growths: withGrowth(hold.growths, mark) }
    const more = { mode: 'take', take, costs: costs.slice(0, units.length), behind: { of: 'growth' } } as const
    const change = { ...within, after: { ...record, mark: newMark(), hold: grown }, more }
    return { result: { outcome, endsAt, isCharged: true }, change }
  }
}

/** The reply to a growth. */
export function growthReply({ result, now, states, status, settingsRevision }: Changed<GrowthResult>): HoldReply {
  const { isCharged, ...reply } = result
  if (status === 'other_settings') return { outcome: 'stale', now, states: [], settingsRevision }
  if (status === 'other_periods') return { outcome: 'stale', now, states: [] }
  if (isCharged === true && status === 'refused') return { outcome: 'refused', now, states }
  return { ...reply, now, states }
}
