import type { Registry, RegistryContentType } from 'prom-client'
import { listedLimits } from '../decision/decision.ts'
import type { WaitOutcome } from '../engine/events.ts'
import type { Quota } from '../engine/quota.ts'
import { type Check, having, textLike, withDefault } from '../options/checks.ts'
import { optionsParser } from '../options/options-parser.ts'
import { limitNames, takesSlot } from '../policy/cells.ts'
import type { Policy } from '../policy/policy.ts'
import { DEFAULT_THRESHOLDS } from '../policy/rules.ts'
import type { Threshold } from '../policy/settings.ts'
import { ofUnit, unitNames } from '../policy/units.ts'
import { mapValues } from '../policy/values.ts'

/** The options of {@link registerQuotaMetrics}. */
export interface QuotaMetricsOptions {
  /** The engine whose decisions are counted. */
  readonly quota: Pick<Quota, 'on' | 'settings' | 'policy' | 'holds' | 'holdTtlMs'>
  /** The registry for the metrics, for example prom-client's own `register`. */
  readonly registry: Registry<RegistryContentType>
  /**
   * The prefix of every metric's name. Engines that share a registry need different ones.
   *
   * @default 'scoregw_quota_'
   */
  readonly prefix?: string | undefined
}

/** The options with defaults. */
export interface ParsedMetricsOptions extends QuotaMetricsOptions {
  readonly prefix: string
}

export const PREFIX = 'scoregw_quota_'

/** Checks the members of an engine that metrics use. */
export function enginePart(): Check<QuotaMetricsOptions['quota']> {
  return having<QuotaMetricsOptions['quota']>(['on', 'status'], 'an engine: what createQuota() gives')
}

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseMetricsOptions: (options: unknown) => ParsedMetricsOptions = /* @__PURE__ */ optionsParser(
  'registerQuotaMetrics()',
  () => ({
    quota: enginePart(),
    registry: having<QuotaMetricsOptions['registry']>(
      ['registerMetric', 'getSingleMetric', 'removeSingleMetric'],
      "prom-client's register, or a new Registry()",
    ),
    prefix: withDefault(
      textLike(/^[a-zA-Z_:][a-zA-Z0-9_:]*$/, 'the beginning of a metric name: letters, digits, _ and :'),
      PREFIX,
    ),
  }),
)

/** All metrics: the name without the prefix, the same for every library, and the help text. */
export const METRICS = {
  decisions: [
    'decisions_total',
    'Decisions by outcome; degraded: the store did not answer and the failure policy decided',
  ],
  limitDecisions: ['limit_decisions_total', 'Decisions by limit; admitted: charged in it, refused: it had no room'],
  refusals: ['refusals_total', 'Refusals by the limit that they report'],
  charged: ['units_charged_total', 'Units charged by admitted requests; refunds are not subtracted'],
  shadowed: ['shadowed_refusals_total', 'Refusals that shadow limits would have made'],
  nearLimit: ['near_limit_total', 'Limits that a charge took across a threshold'],
  holdsOpen: ['holds_open', 'Open holds of all subjects, as the store reports'],
  holdsEnded: ['holds_expired_total', 'Holds that ended unsettled'],
  overrun: ['overrun_units_total', 'Units that work cost above what was reserved'],
  degraded: ['degraded_decisions_total', 'Decisions by the failure policy, since the store did not answer'],
  duration: ['decision_duration_seconds', 'Time to a decision in seconds, the store included'],
  waiting: ['waiting_requests', 'Requests that wait in the queue of this process'],
  waits: ['waits_total', 'Requests that left the queue, by outcome; those that waited for nothing are not counted'],
  waitDuration: [
    'wait_duration_seconds',
    'Time from a request to its admission by the queue, or to its end without one, in seconds',
  ],
  settingsVersion: ['settings_version', 'Version of the settings in force in this process'],
  adaptiveFactor: ['adaptive_factor', 'Factor of mode adaptive as this process knows it; 1 is the base'],
} as const

export type MetricKey = keyof typeof METRICS

/** Buckets in seconds, from microseconds for a decision in memory to the longest deadline of a store. */
export const DURATION_BUCKETS: readonly number[] = [
  0.000_01, 0.000_025, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1,
]

/** Buckets in seconds, from a short wait to several minutes. */
export const WAIT_BUCKETS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
]

export const OUTCOMES: readonly string[] = ['admitted', 'refused', 'degraded']

const WAIT_OUTCOMES: Readonly<Record<WaitOutcome, true>> = {
  admitted: true,
  timeout: true,
  too_late: true,
  too_large: true,
  queue_full: true,
  aborted: true,
  closed: true,
  failed: true,
}

/** Counts whose label values come from the policy. */
type CountKey = Exclude<
  MetricKey,
  'nearLimit' | 'holdsOpen' | 'duration' | 'waiting' | 'waitDuration' | 'settingsVersion' | 'adaptiveFactor'
>

/**
 * Returns the labels of each count. The policy defines all values, so their number is bounded. No label comes from a
 * request, such as the subject.
 */
function countLabels(policy: Policy): Readonly<Record<CountKey, LabelValues>> {
  const operation = Object.keys(policy.operations)
  const ofLimit = { limit: limitNames(policy) }
  const unit = { unit: unitNames(policy) }
  return {
    decisions: { operation, outcome: OUTCOMES },
    limitDecisions: { ...ofLimit, outcome: ['admitted', 'refused'] },
    refusals: ofLimit,
    charged: { operation, ...unit },
    shadowed: ofLimit,
    holdsEnded: { operation },
    overrun: { operation, outcome: ['charged', 'uncharged'], ...unit },
    degraded: { operation, outcome: ['admitted', 'unavailable'] },
    waits: { operation, outcome: Object.keys(WAIT_OUTCOMES) },
  }
}

/** Makes something for each count. */
export function byCount<T>(policy: Policy, make: (key: CountKey, labels: LabelValues) => T): Record<CountKey, T> {
  return mapValues<LabelValues, T>(countLabels(policy), (labels, key) => make(key as CountKey, labels)) as Record<
    CountKey,
    T
  >
}

/** A counter that is increased for one value per label, in the order of the labels. */
export interface Counted {
  raise(by: number, ...values: readonly string[]): void
}

/** The metrics that events increase, for any library. */
export type FollowedMetrics = Readonly<Record<CountKey, Counted>> & {
  /** By limit and threshold. Thresholds come from the settings, which change. */
  readonly nearLimit: Counted
  /** In seconds, by outcome. */
  readonly duration: { observe(seconds: number, outcome: string): void }
  readonly waiting: { set(requests: number): void }
  /** In seconds. */
  readonly waitDuration: { observe(seconds: number): void }
}

/** Starts at 0 for the current thresholds, so that a rate includes the first event. */
export function beginNearLimit(quota: QuotaMetricsOptions['quota'], nearLimit: Counted): void {
  const thresholds = quota.settings.current().settings.thresholds ?? DEFAULT_THRESHOLDS
  for (const name of limitNames(quota.policy))
    for (const each of thresholds) nearLimit.raise(0, name, thresholdText(each))
}

/** Returns a threshold as a label: `80%` of a limit, or `10 left`; `80% of requests` for a unit. */
function thresholdText(threshold: Threshold): string {
  // A share has few decimals. The product may have floating-point errors.
  const text = 'share' in threshold ? `${Number((threshold.share * 100).toFixed(6))}%` : `${threshold.left} left`
  return threshold.unit === undefined ? text : `${text} of ${threshold.unit}`
}

/** Counts the events of an engine until you call the returned function. */
export function follow(quota: QuotaMetricsOptions['quota'], metrics: FollowedMetrics): () => void {
  const { policy } = quota
  const units = unitNames(policy)
  const working = new Set(Object.keys(policy.operations).filter((name) => takesSlot(policy, name)))

  const stops = [
    quota.on('decided', ({ operation, outcome, allowed, durationMs }) => {
      metrics.decisions.raise(1, operation, outcome)
      // A listener for `degraded` would silence the log.
      if (outcome === 'degraded') metrics.degraded.raise(1, operation, allowed ? 'admitted' : 'unavailable')
      metrics.duration.observe(durationMs / 1_000, outcome)
    }),
    quota.on('admitted', ({ operation, cost, limits }) => {
      for (const unit of units) metrics.charged.raise(ofUnit(cost, unit), operation, unit)
      for (const { name, kind, unit } of listedLimits(limits)) {
        // Requests without a slot don't charge concurrency, and free ones charge nothing.
        const isCharged = kind === 'concurrency' ? working.has(operation) : ofUnit(cost, unit) > 0
        if (!isCharged) continue
        metrics.limitDecisions.raise(1, name, 'admitted')
      }
    }),
    quota.on('refused', ({ refusedBy, refusals }) => {
      metrics.refusals.raise(1, refusedBy.name)
      for (const { name } of refusals) metrics.limitDecisions.raise(1, name, 'refused')
    }),
    quota.on('shadowed', ({ shadowed }) => {
      for (const { name } of shadowed) metrics.shadowed.raise(1, name)
    }),
    quota.on('nearLimit', ({ limit: { name }, threshold }) =>
      metrics.nearLimit.raise(1, name, thresholdText(threshold)),
    ),
    quota.on('overrun', ({ operation, charged, uncharged, reserved }) => {
      for (const unit of units) {
        const more = ofUnit(charged, unit) - ofUnit(reserved, unit)
        metrics.overrun.raise(Math.max(0, more), operation, 'charged', unit)
        metrics.overrun.raise(ofUnit(uncharged, unit), operation, 'uncharged', unit)
      }
    }),
    quota.on('waiting', ({ size }) => metrics.waiting.set(size)),
    quota.on('waited', ({ operation, outcome, waitedMs, size }) => {
      metrics.waiting.set(size)
      metrics.waits.raise(1, operation, outcome)
      metrics.waitDuration.observe(waitedMs / 1_000)
    }),
  ]
  // These events need polling of the store every second, so only if it has holds.
  if (quota.holdTtlMs !== undefined) {
    stops.push(quota.on('holdEnded', ({ operation }) => metrics.holdsEnded.raise(1, operation)))
  }
  return () => {
    for (const stop of stops) stop()
  }
}

/** All possible values of each label. */
export type LabelValues = Readonly<Record<string, readonly string[]>>

/** One value per label. */
export type Labels = Readonly<Record<string, string>>

/**
 * Counts by labels. Each decision increases several counts, and metrics libraries build a text from the labels each
 * time. A table is cheaper. Its counts are passed on when the metrics are read.
 */
export class CountTable {
  /** All combinations of values, by their position in the table. */
  readonly combinations: readonly Labels[]
  /** The counts, at the same positions. */
  readonly counts: number[]
  /** For each label, the offset of each value. The sum over the labels is the position in the table. */
  readonly #places: readonly ReadonlyMap<string, number>[]

  constructor(labels: LabelValues) {
    let combinations: Labels[] = [{}]
    const places: Map<string, number>[] = []
    for (const [label, values] of Object.entries(labels)) {
      const size = combinations.length
      places.push(new Map(values.map((value, index) => [value, index * size])))
      combinations = values.flatMap((value) => combinations.map((others) => ({ ...others, [label]: value })))
    }
    this.#places = places
    this.combinations = combinations
    this.counts = combinations.map(() => 0)
  }

  /** @param values one per label, in the order of the labels */
  raise(by: number, ...values: readonly string[]): void {
    let at = 0
    for (let label = 0; label < values.length; label++) at += this.#places[label]!.get(values[label]!)!
    this.counts[at]! += by
  }
}
