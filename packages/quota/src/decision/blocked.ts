import { placedLimits } from '../policy/cells.ts'
import { type DecisionFrame, type Demand, limitStatus, namesOf, neededOf } from './decide.ts'
import type { Refusal } from './decision.ts'

/**
 * Returns the refusals of a blocked subject: the limits of the layers that block it, those that count the operation
 * first, with a limit of 0. They end with the block.
 */
export function blockedBy(
  frame: DecisionFrame,
  demand: Demand,
  now: number,
): { readonly refusals: readonly Refusal[]; readonly refusedBy: Refusal } {
  const blocked = demand.quotas.blocked ?? []
  const { shown: all } = placedLimits(frame.policy)
  const ofLayers = [frame.shown, all].map((limits) => limits.filter(({ layer }) => blocked.includes(layer)))
  const endsAt = endOf(demand)
  const end = { resetAt: endsAt ?? now + 1_000, retryable: endsAt !== undefined }
  const refusals = (ofLayers.find((limits) => limits.length > 0) ?? all).map((limit): Refusal => {
    const { lengthMs } = limitStatus(frame, demand, { now, states: [] }, limit)
    const counts = { lengthMs, limit: 0, used: 0, requested: neededOf(demand.costs, limit) }
    return Object.assign(namesOf(limit), counts, end)
  })
  return { refusals, refusedBy: refusals[0]! }
}

/** Returns when the subject is no longer blocked; `undefined`: its block has no end. */
function endOf({ quotas }: Demand): number | undefined {
  for (let { later } = quotas; later !== undefined; { later } = later.quotas) {
    if (later.quotas.blocked === undefined) return later.from
  }
  return undefined
}
