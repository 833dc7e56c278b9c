import type { Decision, NearLimit } from '@scoregw/quota'
import type { Threshold } from '@scoregw/quota/store'

/** The thresholds of an engine without any in its settings. */
const USUAL: readonly Threshold[] = [{ share: 0.8 }]

/** A limit that a charge took across a threshold, in short form. */
export function inWords({ window: { layer, window, used }, threshold }: NearLimit): string {
  return `${layer} ${window} ${used} ${JSON.stringify(threshold)}`
}

/** The limits that a charge took across thresholds: not near before it, near after it. */
export function crossed(decision: ReturnType<Decision['toJSON']>, set: readonly Threshold[] | null): string[] {
  const { allowed, cost, windows } = decision
  if (!allowed) return []
  return windows.flatMap(({ layer, window, burst, limit: ofWindow, used, kind }) => {
    const limit = burst ?? ofWindow
    // consume() takes no slot.
    if (used === null || limit === 'unlimited' || kind === 'concurrency') return []
    const isNear = (tokens: number, threshold: Threshold): boolean =>
      'left' in threshold ? limit - tokens <= threshold.left : 100 * tokens >= limit * Math.round(100 * threshold.share)
    return (set ?? USUAL)
      .filter((threshold) => isNear(used, threshold) && !isNear(used - cost, threshold))
      .map((threshold) => `${layer} ${window} ${used} ${JSON.stringify(threshold)}`)
  })
}
