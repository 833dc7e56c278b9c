import { placedLimits } from '../policy/cells.ts'
import { type DecisionFrame, type Demand, limitStatuses } from './decide.ts'
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
  const { layout, policy } = frame
  const { positions: placed } = placedLimits(policy)
  const { quotas, costs } = demand
  const blocked = quotas.blocked ?? []
  const isOfBlocked = (at: number): boolean => blocked.includes(layout.layerOf[at]!)
  const all = policy.limits.map(({ name }) => placed.get(name)!)
  const ofLayers = [frame.shown, all].map((positions) => positions.filter(isOfBlocked))
  const shown = ofLayers.find((positions) => positions.length > 0) ?? all
  const endsAt = endOf(demand)
  const statuses = limitStatuses(
    { ...frame, shown },
    { ...demand, quotas: { ...quotas, layers: everyLayer(frame) } },
    { now, states: [] },
  )
  const refusals = statuses.map((status, index): Refusal => {
    const { name, by, shared, title, kind, unit, lengthMs } = status
    const whose = shared === undefined ? { by } : { shared }
    const requested = costs[layout.units[shown[index]!]!] ?? 0
    const common = { name, ...whose, title, kind, unit, lengthMs } as Pick<
      Refusal,
      'name' | 'title' | 'kind' | 'unit' | 'lengthMs'
    >
    return { ...common, limit: 0, used: 0, requested, resetAt: endsAt ?? now + 1_000, retryable: endsAt !== undefined }
  })
  return { refusals, refusedBy: refusals[0]! }
}

function everyLayer({ layers }: DecisionFrame): readonly number[] {
  return [...layers.keys()]
}

/** Returns when the subject is no longer blocked; `undefined`: its block has no end. */
function endOf({ quotas }: Demand): number | undefined {
  for (let { later } = quotas; later !== undefined; { later } = later.quotas) {
    if (later.quotas.blocked === undefined) return later.from
  }
  return undefined
}
