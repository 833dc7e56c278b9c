import type { PlacedLimit } from '../policy/cells.ts'
import { type Amount, amountsOf, type Counting, ofUnit } from '../policy/units.ts'
import { applying, lastingOf, limitStatus, mostOf, neededOf, type Reading, startOf, sumOf } from './decide.ts'
import { type Decision, type LimitStatus, listedLimits } from './decision.ts'
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

/** A limit, and how close it is. */
interface Candidate<L> {
  readonly limit: L
  /** How much may be used: infinite if it is unlimited or shadowed. */
  readonly most: number
  /** What is used, with what was charged since. */
  readonly used: number
  /** The cost in the limit's unit, 0 for slots. */
  readonly cost: number
  /** When it ends, or {@link SLOTS}. Only called for a limit that may be the scarcest. */
  readonly endsAt: () => number
}

function scarcestOfCounted({ frame, demand, reading }: Made, more: Amount): LimitStatus | undefined {
  // Some readings compute their states on each access.
  const read: Reading = { now: reading.now, states: reading.states }
  const { quotas, costs } = demand
  const moreOf = amountsOf(frame.units, more)
  const candidates = applying(frame, quotas).map((limit): Candidate<PlacedLimit> => {
    const isSlots = limit.kind === 'concurrency'
    const endsAt = (): number =>
      lastingOf(frame, limit, startOf(read.states, limit), demand, read.now, sumOf(read.states, limit)).endsAt ?? 0
    return {
      limit,
      most: mostOf(quotas, limit),
      used: frame.layout.usedAt(read.states, limit.at, quotas.rates, read.now) + neededOf(moreOf, limit),
      cost: isSlots ? 0 : neededOf(costs, limit),
      endsAt: isSlots ? () => SLOTS : endsAt,
    }
  })
  const found = scarcest(candidates)
  return found && limitStatus(frame, demand, read, found)
}

/** A decision that was sent as JSON only has its limits. */
function scarcestOfCopied({ limits: shown, cost }: Decision, more: Amount = 0): LimitStatus | undefined {
  const counted = listedLimits(shown).filter((limit): limit is LimitStatus => limit.used !== null && limit.enforced)
  const candidates = counted.map((limit): Candidate<LimitStatus> => {
    const { kind, unit, used, resetAt, burst = limit.limit } = limit
    const isSlots = kind === 'concurrency'
    return {
      limit,
      most: burst === 'unlimited' ? Number.POSITIVE_INFINITY : burst,
      used: used + (isSlots ? 0 : ofUnit(more, unit)),
      cost: isSlots ? 0 : ofUnit(cost, unit),
      endsAt: () => (isSlots ? SLOTS : (resetAt ?? 0)),
    }
  })
  return scarcest(candidates)
}

function scarcest<L>(candidates: readonly Candidate<L>[]): L | undefined {
  let found: L | undefined
  let slots: L | undefined
  let fewest = Number.POSITIVE_INFINITY
  let latest = SLOTS
  // An operation that is free now may cost something once its price is known.
  const isFree = candidates.every(({ cost }) => cost === 0)
  for (const { limit, most, used, cost, endsAt } of candidates) {
    const requests = requestsLeft(most, used, cost)
    if (requests === Number.POSITIVE_INFINITY || requests > fewest) continue
    const end = endsAt()
    if (end === SLOTS) slots = limit
    else if ((isFree || cost > 0) && (requests < fewest || end > latest)) {
      found = limit
      fewest = requests
      latest = end
    }
  }
  return found ?? slots
}

function requestsLeft(limit: number, used: number, cost: number): number {
  const left = used > 0 ? limit - used : limit
  return left > 0 ? Math.floor(left / Math.max(1, cost)) : 0
}
