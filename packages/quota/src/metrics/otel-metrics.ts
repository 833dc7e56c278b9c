import type { BatchObservableCallback, Counter, Meter, Observable } from '@opentelemetry/api'
import { CountTable } from './count-table.ts'
import {
  beginNearLimit,
  byCount,
  COUNT_KEYS,
  type Counted,
  countLabels,
  DURATION_BUCKETS,
  type FollowedMetrics,
  METRIC_HELP,
  METRIC_NAMES,
  type MetricKey,
  OUTCOMES,
} from './definitions.ts'
import { follow } from './follow.ts'
import type { QuotaMetricsOptions } from './options.ts'

type EnginePart = QuotaMetricsOptions['quota']

/** What a metric is made with. */
type Described = (
  key: MetricKey,
  unit?: string,
) => readonly [name: string, options: { description: string; unit?: string }]

/**
 * Counts what an engine tells in a meter, under the names that prom-client has it under: whoever turns these metrics into
 * Prometheus' adds nothing to a name that ends as it should.
 *
 * @returns a function that ends it
 */
export function countInMeter(quota: EnginePart, meter: Meter, prefix: string): () => void {
  const described: Described = (key, unit) => [
    prefix + METRIC_NAMES[key],
    { description: METRIC_HELP[key], ...(unit === undefined ? {} : { unit }) },
  ]
  const labels = countLabels(quota.policy)
  const tables = byCount((key) => new CountTable(labels[key]))
  const stops = [
    ...COUNT_KEYS.map((key) => observeTable(meter, described(key), tables[key])),
    ...gauges(quota, meter, described),
    follow(quota, { ...tables, nearLimit: nearLimit(quota, meter, described), duration: duration(meter, described) }),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

/** Totals since the beginning, read when somebody collects them. */
function observeTable(meter: Meter, described: ReturnType<Described>, table: CountTable): () => void {
  const counter = meter.createObservableCounter(...described)
  return observed(meter, counter, (result) => {
    for (const [at, count] of table.counts.entries()) result.observe(counter, count, table.combinations[at]!)
  })
}

function observed(meter: Meter, observable: Observable, callback: BatchObservableCallback): () => void {
  meter.addBatchObservableCallback(callback, [observable])
  return () => meter.removeBatchObservableCallback(callback, [observable])
}

function gauges(quota: EnginePart, meter: Meter, described: Described): (() => void)[] {
  const gauge = (key: MetricKey, read: () => number | Promise<number | undefined>): (() => void) => {
    const observable = meter.createObservableGauge(...described(key))
    return observed(meter, observable, async (result) => {
      const value = await read()
      if (value !== undefined) result.observe(observable, value)
    })
  }
  return [
    gauge('settingsVersion', () => quota.inForce().settings.version),
    gauge('adaptiveFactor', () => quota.inForce().adaptiveFactor),
    // A store without holds, or one that is away, must not take the other metrics with it.
    gauge('holdsOpen', () =>
      quota.holds.sweep().then(
        ({ open }) => open,
        () => undefined,
      ),
    ),
  ]
}

function duration(meter: Meter, described: Described): FollowedMetrics['duration'] {
  const [name, options] = described('duration', 's')
  const histogram = meter.createHistogram(name, {
    ...options,
    advice: { explicitBucketBoundaries: [...DURATION_BUCKETS] },
  })
  const attributes = new Map(OUTCOMES.map((outcome) => [outcome, { outcome }]))
  return { observe: (seconds, outcome) => histogram.record(seconds, attributes.get(outcome)) }
}

function nearLimit(quota: EnginePart, meter: Meter, described: Described): Counted {
  const counter: Counter = meter.createCounter(...described('nearLimit'))
  const counted: Counted = {
    raise: (by, ...[layer = '', window = '', category = '', threshold = '']) =>
      counter.add(by, { layer, window, category, threshold }),
  }
  beginNearLimit(quota, counted)
  return counted
}
