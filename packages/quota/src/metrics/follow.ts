import { takesSlot } from '../policy/cells.ts'
import { ofUnit, unitNames } from '../policy/units.ts'
import { type FollowedMetrics, thresholdText } from './definitions.ts'
import type { QuotaMetricsOptions } from './options.ts'

/** Counts what an engine tells, until the returned function is called. */
export function follow(quota: QuotaMetricsOptions['quota'], metrics: FollowedMetrics): () => void {
  const { policy } = quota
  const units = unitNames(policy)
  const isNamed = policy.units !== undefined
  /** The label of a unit, where the policy names its units. */
  const named = (unit: string): readonly string[] => (isNamed ? [unit] : [])
  const working = new Set(Object.keys(policy.operations).filter((name) => takesSlot(policy, name)))

  const stops = [
    quota.on('decided', ({ category, outcome, durationMs }) => {
      metrics.decisions.raise(1, category, outcome)
      metrics.duration.observe(durationMs / 1_000, outcome)
    }),
    quota.on('admitted', ({ category, operation, cost, windows }) => {
      for (const unit of units) metrics.tokens.raise(ofUnit(cost, unit), category, ...named(unit))
      for (const { layer, window, kind, unit } of windows) {
        // Slots are left alone by what needs none, and windows by what costs nothing of their unit.
        const isCharged = kind === 'concurrency' ? working.has(operation) : ofUnit(cost, unit) > 0 || !isNamed
        if (!isCharged) continue
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
      for (const unit of units) {
        const more = ofUnit(charged, unit) - ofUnit(reserved, unit)
        metrics.overrun.raise(Math.max(0, more), category, 'charged', ...named(unit))
        metrics.overrun.raise(ofUnit(uncharged, unit), category, 'uncharged', ...named(unit))
      }
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
