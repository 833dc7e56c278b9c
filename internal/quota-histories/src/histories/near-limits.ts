import type { Decision } from '@scoregw/quota'
import { type NearLimit, ofUnit, type Threshold } from '@scoregw/quota/internal'

/** The thresholds of an engine without any in its settings. */
const USUAL: readonly Threshold[] = [{ share: 0.8 }]

/** A limit that a charge took across a threshold, in short form. */
export function inWords({ limit: { name, used }, threshold }: NearLimit): string {
  return `${name} ${used} ${JSON.stringify(threshold)}`
}

/** The limits that a charge took across thresholds: not near before it, near after it. */
export function crossed(decision: ReturnType<Decision['toJSON']>, set: readonly Threshold[] | null): string[] {
  const { allowed, cost, limits } = decision
  if (!allowed) return []
  return Object.values(limits).flatMap((each) => {
    if (each === undefined) return []
    const { name, unit, burst, limit: ofWindow, used, kind } = each
    const limit = burst ?? ofWindow
    // consume() takes no slot.
    if (used === null || limit === 'unlimited' || kind === 'concurrency') return []
    const isNear = (count: number, threshold: Threshold): boolean =>
      'left' in threshold ? limit - count <= threshold.left : 100 * count >= limit * Math.round(100 * threshold.share)
    return (set ?? USUAL)
      .filter((threshold) => isNear(used, threshold) && !isNear(used - ofUnit(cost, unit), threshold))
      .map((threshold) => `${name} ${used} ${JSON.stringify(threshold)}`)
  })
}
