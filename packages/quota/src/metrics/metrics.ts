import { Gauge, Histogram, type Metric } from 'prom-client'
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
  readonly nearLimit: Tally<'layer' | 'window' | 'category'>
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
  nearLimit: 'near_limit_total',
  degraded: 'degraded_decisions_total',
  duration: 'decision_duration_seconds',
  settingsVersion: 'settings_version',
  adaptiveFactor: 'adaptive_factor',
} as const

type MetricKey = keyof typeof METRIC_NAMES

/** Makes and registers all of them, at 0, so that a rate also sees the first event. */
export function makeMetrics(options: ParsedOptions): QuotaMetrics {
  const { registry, prefix } = options
  const { categories, layers, windows } = options.quota.policy
  const ofWindow = {
    layer: layers.map(({ name }) => name),
    window: windows.map(({ label }) => label),
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
    'Decisions by window; admitted: charged in it, refused: it had no room',
    { ...ofWindow, outcome: ['admitted', 'refused'] },
  )
  const refusals = tally('refusals', 'Refusals by the window that binds', ofWindow)
  const tokens = tally('tokens', 'Tokens charged by admitted requests, before any were given back', {
    category: categories,
  })
  const nearLimit = tally('nearLimit', 'Windows that a charge took to 80 % of their limit, each opening once', ofWindow)
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
  const tallies = { decisions, windowDecisions, refusals, tokens, nearLimit, degraded }
  const counters = {
    decisions: decisions.counter,
    windowDecisions: windowDecisions.counter,
    refusals: refusals.counter,
    tokens: tokens.counter,
    nearLimit: nearLimit.counter,
    degraded: degraded.counter,
  }
  return { ...tallies, duration, all: { ...counters, duration, ...gauges(options) } }
}

/** They are not set by events: what is in force is asked when the metrics are read. */
function gauges({ quota, registry, prefix }: ParsedOptions): {
  readonly settingsVersion: Gauge
  readonly adaptiveFactor: Gauge
} {
  return {
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
