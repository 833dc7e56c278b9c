import type { QuotaMetrics } from './metrics.ts'
import type { QuotaMetricsOptions } from './options.ts'

/** Counts what an engine tells, until the returned function is called. */
export function follow(quota: QuotaMetricsOptions['quota'], metrics: QuotaMetrics): () => void {
  const windowCount = quota.policy.windows.length
  const windowLabels = quota.policy.windows.map(({ label }) => label)

  const stops = [
    quota.on('decided', ({ category, outcome, durationMs }) => {
      metrics.decisions.raise(1, category, outcome)
      metrics.duration.observe({ outcome }, durationMs / 1_000)
    }),
    quota.on('admitted', ({ category, cost, windows }) => {
      metrics.tokens.raise(cost, category)
      // A layer is charged in all its windows.
      for (let first = 0; first < windows.length; first += windowCount) {
        const { layer } = windows[first]!
        for (const window of windowLabels) metrics.windowDecisions.raise(1, layer, window, category, 'admitted')
      }
    }),
    quota.on('refused', ({ binding, violations }) => {
      metrics.refusals.raise(1, binding.layer, binding.window, binding.category)
      for (const { layer, window, category } of violations) {
        metrics.windowDecisions.raise(1, layer, window, category, 'refused')
      }
    }),
    quota.on('nearLimit', ({ window: { layer, window, category } }) =>
      metrics.nearLimit.raise(1, layer, window, category),
    ),
    quota.on('degraded', ({ category, allowed }) =>
      metrics.degraded.raise(1, category, allowed ? 'admitted' : 'unavailable'),
    ),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}
