import { limitLabels } from '../policy/cells.ts'
import type { Policy } from '../policy/policy.ts'
import type { Threshold } from '../policy/settings.ts'
import { DEFAULT_THRESHOLDS } from '../policy/threshold-rules.ts'
import { unitNames } from '../policy/units.ts'
import type { LabelValues } from './count-table.ts'
import type { QuotaMetricsOptions } from './options.ts'

/** Every name without the prefix, the same wherever they are kept. */
export const METRIC_NAMES = {
  decisions: 'decisions_total',
  windowDecisions: 'window_decisions_total',
  refusals: 'refusals_total',
  tokens: 'tokens_charged_total',
  shadowed: 'shadowed_refusals_total',
  nearLimit: 'near_limit_total',
  holdsOpen: 'holds_open',
  holdsEnded: 'holds_expired_total',
  overrun: 'overrun_tokens_total',
  degraded: 'degraded_decisions_total',
  duration: 'decision_duration_seconds',
  settingsVersion: 'settings_version',
  adaptiveFactor: 'adaptive_factor',
} as const

export type MetricKey = keyof typeof METRIC_NAMES

/** What each of them means. */
export const METRIC_HELP: Readonly<Record<MetricKey, string>> = {
  decisions: 'Decisions by outcome; degraded: the store did not answer and the failure policy decided',
  windowDecisions: 'Decisions by limit; admitted: charged in it, refused: it had no room',
  refusals: 'Refusals by the limit that binds',
  tokens: 'Tokens, or amounts by unit, charged by admitted requests, before any were given back',
  shadowed: 'Refusals that shadowed limits would have made',
  nearLimit: 'Limits that a charge took across a threshold',
  holdsOpen: 'Open holds of all subjects, as the store says',
  holdsEnded: 'Holds that ended and nobody had settled',
  overrun: 'Tokens, or amounts by unit, that work cost above what was reserved',
  degraded: 'Decisions by the failure policy, since the store did not answer',
  duration: 'Time to a decision in seconds, the store included',
  settingsVersion: 'Version of the settings in force in this process',
  adaptiveFactor: 'Factor of mode adaptive as this process knows it; 1 is the base',
}

/** From a decision in memory, some microseconds, to the longest deadline of a store, in seconds. */
export const DURATION_BUCKETS: readonly number[] = [
  0.000_01, 0.000_025, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1,
]

export const OUTCOMES: readonly string[] = ['admitted', 'refused', 'degraded']

/** What is counted under labels whose values a policy knows. */
export const COUNT_KEYS = [
  'decisions',
  'windowDecisions',
  'refusals',
  'tokens',
  'shadowed',
  'holdsEnded',
  'overrun',
  'degraded',
] as const

export type CountKey = (typeof COUNT_KEYS)[number]

/** One of something for each count. */
export function byCount<T>(make: (key: CountKey) => T): Record<CountKey, T> {
  return Object.fromEntries(COUNT_KEYS.map((key) => [key, make(key)])) as Record<CountKey, T>
}

/** The labels of each count. None takes a value from a request, such as the subject: their number is the policy's. */
export function countLabels(policy: Policy): Readonly<Record<CountKey, LabelValues>> {
  const category = policy.categories
  const ofWindow = windowLabels(policy)
  const unit: LabelValues = policy.units === undefined ? {} : { unit: unitNames(policy) }
  return {
    decisions: { category, outcome: OUTCOMES },
    windowDecisions: { ...ofWindow, outcome: ['admitted', 'refused'] },
    refusals: ofWindow,
    tokens: { category, ...unit },
    shadowed: ofWindow,
    holdsEnded: { category },
    overrun: { category, outcome: ['charged', 'uncharged'], ...unit },
    degraded: { category, outcome: ['admitted', 'unavailable'] },
  }
}

/** The labels of a limit. */
function windowLabels(policy: Policy): Readonly<Record<'layer' | 'window' | 'category', readonly string[]>> {
  return {
    layer: policy.layers.map(({ name }) => name),
    window: limitLabels(policy),
    category: policy.categories,
  }
}

/** Something that is raised under one value of each label, in the order of the labels. */
export interface Counted {
  raise(by: number, ...values: readonly string[]): void
}

/** What is raised by events, wherever it is kept. */
export type FollowedMetrics = Readonly<Record<CountKey, Counted>> & {
  /** By layer, window, category and threshold; thresholds are the settings', which change. */
  readonly nearLimit: Counted
  /** In seconds, by outcome. */
  readonly duration: { observe(seconds: number, outcome: string): void }
}

/** Begins at 0 under the thresholds that are in force, so that a rate also sees the first event. */
export function beginNearLimit(quota: QuotaMetricsOptions['quota'], nearLimit: Counted): void {
  const thresholds = quota.inForce().settings.thresholds ?? DEFAULT_THRESHOLDS
  const labels = windowLabels(quota.policy)
  for (const layer of labels.layer)
    for (const window of labels.window)
      for (const category of labels.category)
        for (const each of thresholds) nearLimit.raise(0, layer, window, category, thresholdText(each))
}

/** A threshold as a label: `80%` of a limit, or `10 left`; `80% of requests` where it is of a unit's. */
export function thresholdText(threshold: Threshold): string {
  // Shares have few decimals, which a product would blur.
  const text = 'share' in threshold ? `${Number((threshold.share * 100).toFixed(6))}%` : `${threshold.left} left`
  return threshold.unit === undefined ? text : `${text} of ${threshold.unit}`
}
