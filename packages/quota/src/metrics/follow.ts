import { takesSlot } from '../policy/cells.ts'
import { type FollowedMetrics, thresholdText } from './definitions.ts'
import type { QuotaMetricsOptions } from './options.ts'

/** Counts what an engine tells, until the returned function is called. */
export function follow(quota: QuotaMetricsOptions['quota'], metrics: FollowedMetrics): () => void {
  const { policy } = quota
  const working = new Set(Object.keys(policy.operations).filter((name) => takesSlot(policy, name)))

  const stops = [
    quota.on('decided', ({ category, outcome, durationMs }) => {
      metrics.decisions.raise(1, category, outcome)
      metrics.duration.observe(durationMs / 1_000, outcome)
    }),
    quota.on('admitted', ({ category, operation, cost, windows }) => {
      metrics.tokens.raise(cost, category)
      for (const { layer, window, kind } of windows) {
        // Slots are left alone by what needs none.
        if (kind === 'concurrency' && !working.has(operation)) continue
        metrics.windowDecisions.raise(1, layer, window, category, 'admitted')
      }
    }),
    quota.on('refused', ({ binding, violations }) => {
      metrics.refusals.raise(1, binding.layer, binding.window, binding.category)
      for (const { layer, window, category } of violations) {
        metrics.windowDecisions.raise(1, layer, window, category, 'refused')
      }
    }),
    quota.on('shadowed', ({ shadowed }) => {
      for (const { layer, window, category } of shadowed) metrics.shadowed.raise(1, layer, window, category)
    }),
    quota.on('nearLimit', ({ window: { layer, window, category }, threshold }) =>
      metrics.nearLimit.raise(1, layer, window, category, thresholdText(threshold)),
    ),
    quota.on('overrun', ({ category, charged, uncharged, reserved }) => {
      metrics.overrun.raise(Math.max(0, charged - reserved), category, 'charged')
      metrics.overrun.raise(uncharged, category, 'uncharged')
    }),
    quota.on('degraded', ({ category, allowed }) =>
      metrics.degraded.raise(1, category, allowed ? 'admitted' : 'unavailable'),
    ),
  ]
  // Heard by asking the store each second: not where it has none.
  if (quota.holdTtlMs !== undefined) {
    stops.push(quota.on('holdEnded', ({ category }) => metrics.holdsEnded.raise(1, category)))
  }
  return () => {
    for (const stop of stops) stop()
  }
}
