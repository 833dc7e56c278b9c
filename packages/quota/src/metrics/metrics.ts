import { Counter, Gauge, Histogram, type Metric } from 'prom-client'
import { limitLabels } from '../policy/cells.ts'
import type { Threshold } from '../policy/settings.ts'
import { DEFAULT_THRESHOLDS } from '../policy/threshold-rules.ts'
import type { ParsedOptions } from './options.ts'
import { Tally, type TallyOptions } from './tally.ts'

/** From a decision in memory, some microseconds, to the longest deadline of a store, in seconds. */
const DURATION_BUCKETS = [
  0.000_01, 0.000_025, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1,
]

const OUTCOMES = ['admitted', 'refused', 'degraded']

/** What is raised by events. No label takes a value from a request, such as the subject: their number is the policy's. */
export interface QuotaMetrics {
  /** By category and outcome. */
  readonly decisions: Tally<'category' | 'outcome'>
  /** By layer, window, category and outcome. */
  readonly windowDecisions: Tally<'layer' | 'window' | 'category' | 'outcome'>
  /** By layer, window and category. */
  readonly refusals: Tally<'layer' | 'window' | 'category'>
  /** By category. */
  readonly tokens: Tally<'category'>
  /** By layer, window and category. */
  readonly shadowed: Tally<'layer' | 'window' | 'category'>
  /** By layer, window, category and threshold; thresholds are the settings', which change. */
  readonly nearLimit: Counter<'layer' | 'window' | 'category' | 'threshold'>
  /** By category. */
  readonly holdsEnded: Tally<'category'>
  /** By category and outcome. */
  readonly overrun: Tally<'category' | 'outcome'>
  /** By category and outcome. */
  readonly degraded: Tally<'category' | 'outcome'>
  readonly duration: Histogram<'outcome'>
  /** Everything that was registered. */
  readonly all: Readonly<Record<MetricKey, Metric>>
}

/** Every name without the prefix. */
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

type MetricKey = keyof typeof METRIC_NAMES

/** Makes and registers all of them, at 0, so that a rate also sees the first event. */
export function makeMetrics(options: ParsedOptions): QuotaMetrics {
  const { registry, prefix } = options
  const { policy } = options.quota
  const { categories, layers } = policy
  const ofWindow = {
    layer: layers.map(({ name }) => name),
    window: limitLabels(policy),
    category: categories,
  }
  const tally = <Label extends string>(
    key: MetricKey,
    help: string,
    labels: TallyOptions<Label>['labels'],
  ): Tally<Label> => new Tally({ name: prefix + METRIC_NAMES[key], help, registry, labels })

  const decisions = tally(
    'decisions',
    'Decisions by outcome; degraded: the store did not answer and the failure policy decided',
    { category: categories, outcome: OUTCOMES },
  )
  const windowDecisions = tally(
    'windowDecisions',
    'Decisions by limit; admitted: charged in it, refused: it had no room',
    { ...ofWindow, outcome: ['admitted', 'refused'] },
  )
  const refusals = tally('refusals', 'Refusals by the limit that binds', ofWindow)
  const tokens = tally('tokens', 'Tokens charged by admitted requests, before any were given back', {
    category: categories,
  })
  const shadowed = tally('shadowed', 'Refusals that shadowed limits would have made', ofWindow)
  const nearLimit = nearLimitCounter(options, ofWindow)
  const holdsEnded = tally('holdsEnded', 'Holds that ended and nobody had settled', { category: categories })
  const overrun = tally('overrun', 'Tokens that work cost above what was reserved', {
    category: categories,
    outcome: ['charged', 'uncharged'],
  })
  const degraded = tally('degraded', 'Decisions by the failure policy, since the store did not answer', {
    category: categories,
    outcome: ['admitted', 'unavailable'],
  })
  const duration = new Histogram({
    name: prefix + METRIC_NAMES.duration,
    help: 'Time to a decision in seconds, the store included',
    registers: [registry],
    labelNames: ['outcome'],
    buckets: DURATION_BUCKETS,
  })
  for (const outcome of OUTCOMES) duration.zero({ outcome })
  const tallies = { decisions, windowDecisions, refusals, tokens, shadowed, nearLimit, holdsEnded, overrun, degraded }
  const counters = {
    decisions: decisions.counter,
    windowDecisions: windowDecisions.counter,
    refusals: refusals.counter,
    tokens: tokens.counter,
    shadowed: shadowed.counter,
    nearLimit,
    holdsEnded: holdsEnded.counter,
    overrun: overrun.counter,
    degraded: degraded.counter,
  }
  return { ...tallies, duration, all: { ...counters, duration, ...gauges(options) } }
}

/** A threshold as a label: `80%` of a limit, or `10 left`. */
export function thresholdText(threshold: Threshold): string {
  // Shares have few decimals, which a product would blur.
  return 'share' in threshold ? `${Number((threshold.share * 100).toFixed(6))}%` : `${threshold.left} left`
}

function nearLimitCounter(
  { quota, registry, prefix }: ParsedOptions,
  labels: Readonly<Record<'layer' | 'window' | 'category', readonly string[]>>,
): QuotaMetrics['nearLimit'] {
  const counter = new Counter({
    name: prefix + METRIC_NAMES.nearLimit,
    help: 'Limits that a charge took across a threshold',
    registers: [registry],
    labelNames: ['layer', 'window', 'category', 'threshold'],
  })
  const thresholds = quota.inForce().settings.thresholds ?? DEFAULT_THRESHOLDS
  for (const layer of labels.layer)
    for (const window of labels.window)
      for (const category of labels.category)
        for (const each of thresholds) counter.inc({ layer, window, category, threshold: thresholdText(each) }, 0)
  return counter
}

/** They are not set by events: what is in force is asked when the metrics are read. */
function gauges({ quota, registry, prefix }: ParsedOptions): {
  readonly settingsVersion: Gauge
  readonly adaptiveFactor: Gauge
  readonly holdsOpen: Gauge
} {
  return {
    holdsOpen: new Gauge({
      name: prefix + METRIC_NAMES.holdsOpen,
      help: 'Open holds of all subjects, as the store says',
      registers: [registry],
      aggregator: 'max',
      async collect() {
        if (quota.holdTtlMs === undefined) return
        try {
          this.set((await quota.holds.sweep()).open)
        } catch {
          // A store that is away must not take the other metrics with it.
          this.set(Number.NaN)
        }
      },
    }),
    settingsVersion: new Gauge({
      name: prefix + METRIC_NAMES.settingsVersion,
      help: 'Version of the settings in force in this process',
      registers: [registry],
      aggregator: 'min',
      collect() {
        this.set(quota.inForce().settings.version)
      },
    }),
    adaptiveFactor: new Gauge({
      name: prefix + METRIC_NAMES.adaptiveFactor,
      help: 'Factor of mode adaptive as this process knows it; 1 is the base',
      registers: [registry],
      aggregator: 'average',
      collect() {
        this.set(quota.inForce().adaptiveFactor)
      },
    }),
  }
}
