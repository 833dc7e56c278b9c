import { type Amount, amountsOf, type Counting, ofUnit } from '../policy/units.ts'
import { applying, lastingOf, limitStatus, type Reading } from './decide.ts'
import type { Decision, LimitStatus } from './decision.ts'
import { listedLimits } from './listed.ts'
import { type Made, madeOf } from './outcome.ts'

/** Stands for the end of slots, which are freed with their work and not at a time. */
const SLOTS = -1

/**
 * Returns the limit that admits the fewest further requests with the decision's cost. Between equal limits, the one
 * that ends later wins. Concurrency counts only if there is no other limit. `undefined`: no limit was counted.
 *
 * @param more charged since the decision; negative: refunded
 */
export function scarcestLimit<C extends Counting>(
  decision: Decision<C>,
  more: C['amount'],
): LimitStatus<C> | undefined {
  const made = madeOf(decision)
  const found = made === undefined ? scarcestOfCopied(decision, more) : scarcestOfCounted(made, more)
  return found as LimitStatus<C> | undefined
}

function scarcestOfCounted({ frame, demand, reading }: Made, more: Amount): LimitStatus | undefined {
  const { cells, units } = frame.layout
  // Some readings compute their states on each access.
  const read: Reading = { now: reading.now, states: reading.states }
  const { limits, rates } = demand.quotas
  const shown = applying(frame, demand.quotas)
  const isSlots = (at: number): boolean => cells[at]!.kind === 'concurrency'
  const moreOf = amountsOf(frame.units, more)
  const place = placeOfScarcest(
    shown.map((at) => limits[at]!),
    (at) => frame.layout.usedAt(read.states, shown[at]!, rates, read.now),
    (at) => (isSlots(shown[at]!) ? 0 : demand.costs[units[shown[at]!]!]!),
    (at) => moreOf[units[shown[at]!]!] ?? 0,
    (each) => {
      const at = shown[each]!
      if (isSlots(at)) return SLOTS
      return lastingOf(frame, at, read.states[2 * at]!, demand, read.now, read.states[2 * at + 1]!).endsAt ?? 0
    },
  )
  return place === -1 ? undefined : limitStatus(frame, demand, read, shown[place]!)
}

/** A decision that was sent as JSON only has its limits. */
function scarcestOfCopied({ limits: shown, cost }: Decision, more: Amount = 0): LimitStatus | undefined {
  const counted = listedLimits(shown).filter((limit): limit is LimitStatus => limit.used !== null && limit.enforced)
  const limits = counted.map(({ limit, burst = limit }) => (burst === 'unlimited' ? Number.POSITIVE_INFINITY : burst))
  const endAt = (at: number): number => {
    const { kind, resetAt } = counted[at]!
    return kind === 'concurrency' ? SLOTS : (resetAt ?? 0)
  }
  const ofLimit = (amount: Amount, at: number): number => {
    const { kind, unit } = counted[at]!
    return kind === 'concurrency' ? 0 : ofUnit(amount, unit)
  }
  const place = placeOfScarcest(
    limits,
    (at) => counted[at]!.used,
    (at) => ofLimit(cost, at),
    (at) => ofLimit(more, at),
    endAt,
  )
  return counted[place]
}

/**
 * @param limits unlimited and shadowed ones are infinite
 * @param usedAt the used amount of a limit
 * @param costAt the cost in the limit's unit, 0 for slots; windows with other units are skipped
 * @param moreAt what was charged there since
 * @param endAt only called for candidates
 * @returns -1 if there is none
 */
function placeOfScarcest(
  limits: readonly number[],
  usedAt: (at: number) => number,
  costAt: (at: number) => number,
  moreAt: (at: number) => number,
  endAt: (at: number) => number,
): number {
  let found = -1
  let slots = -1
  let fewest = Number.POSITIVE_INFINITY
  let latest = SLOTS
  // An operation that is free now may cost something once its price is known.
  const isFree = limits.every((_, at) => costAt(at) === 0)
  for (let at = 0; at < limits.length; at++) {
    const requests = requestsLeft(limits[at]!, usedAt(at) + moreAt(at), costAt(at))
    if (requests === Number.POSITIVE_INFINITY || requests > fewest) continue
    const end = endAt(at)
    if (end === SLOTS) slots = at
    else if ((isFree || costAt(at) > 0) && (requests < fewest || end > latest)) {
      found = at
      fewest = requests
      latest = end
    }
  }
  return found === -1 ? slots : found
}

function requestsLeft(limit: number, used: number, cost: number): number {
  const left = used > 0 ? limit - used : limit
  return left > 0 ? Math.floor(left / Math.max(1, cost)) : 0
}
