import { Counter, Gauge, Histogram, type Metric, type Registry, type RegistryContentType } from 'prom-client'
import { refusedOptions } from '../options/options-parser.ts'
import {
  beginNearLimit,
  byCount,
  type Counted,
  CountTable,
  DURATION_BUCKETS,
  type FollowedMetrics,
  follow,
  type LabelValues,
  METRICS,
  type MetricKey,
  OUTCOMES,
  type ParsedMetricsOptions,
  parseMetricsOptions,
  type QuotaMetricsOptions,
  WAIT_BUCKETS,
} from './definitions.ts'

/**
 * Counts an engine's decisions in prom-client metrics.
 *
 * @returns a function that stops counting and removes the metrics; call it with `quota.close()`
 */
export function registerQuotaMetrics(options: QuotaMetricsOptions): () => void {
  const parsed = parseMetricsOptions(options)
  const { quota, registry, prefix } = parsed
  const names = Object.values(METRICS).map(([name]) => prefix + name)
  const taken = names.filter((name) => registry.getSingleMetric(name) !== undefined)
  if (taken.length > 0) {
    const message = `has ${taken.join(', ')}; unregister these first, or choose another prefix`
    throw refusedOptions('registerQuotaMetrics()', [{ path: 'registry', message }])
  }
  const metrics = makeMetrics(parsed)
  const stop = follow(quota, metrics.followed)
  return () => {
    stop()
    for (const [key, [own]] of Object.entries(METRICS)) {
      const name = prefix + own
      // After a `clear()`, the registry may have a different metric with this name.
      if (registry.getSingleMetric(name) === metrics.all[key as MetricKey]) registry.removeSingleMetric(name)
    }
  }
}

/** An engine's metrics in a prom-client registry. */
interface RegisteredMetrics {
  readonly followed: FollowedMetrics
  /** Everything that was registered. */
  readonly all: Readonly<Record<MetricKey, Metric>>
}

/** Makes and registers all metrics at 0, so that a rate includes the first event. */
function makeMetrics(options: ParsedMetricsOptions): RegisteredMetrics {
  const { registry } = options
  const { policy } = options.quota
  const tallies = byCount(policy, (key, labels) => new Tally({ ...described(options, key), registry, labels }))
  const nearLimit = new Counter({
    ...described(options, 'nearLimit'),
    registers: [registry],
    labelNames: ['limit', 'threshold'],
  })
  const duration = new Histogram({
    ...described(options, 'duration'),
    registers: [registry],
    labelNames: ['outcome'],
    buckets: [...DURATION_BUCKETS],
  })
  for (const outcome of OUTCOMES) duration.zero({ outcome })
  const waiting = new Gauge({ ...described(options, 'waiting'), registers: [registry] })
  const waitDuration = new Histogram({
    ...described(options, 'waitDuration'),
    registers: [registry],
    buckets: [...WAIT_BUCKETS],
  })
  const nearLimitCounted: Counted = {
    raise: (by, ...[limit = '', threshold = '']) => nearLimit.inc({ limit, threshold }, by),
  }
  beginNearLimit(options.quota, nearLimitCounted)
  const followed = {
    ...tallies,
    nearLimit: nearLimitCounted,
    duration: { observe: (seconds: number, outcome: string) => duration.observe({ outcome }, seconds) },
    waiting,
    waitDuration,
  }
  const counters = byCount(policy, (key) => tallies[key].counter)
  return { followed, all: { ...counters, nearLimit, duration, waiting, waitDuration, ...gauges(options) } }
}

function described({ prefix }: ParsedMetricsOptions, key: MetricKey): { readonly name: string; readonly help: string } {
  const [name, help] = METRICS[key]
  return { name: prefix + name, help }
}

/** Reads the effective settings when metrics are collected, because no event sets these. */
function gauges(options: ParsedMetricsOptions): Record<'settingsVersion' | 'adaptiveFactor' | 'holdsOpen', Gauge> {
  const { quota, registry } = options
  return {
    holdsOpen: new Gauge({
      ...described(options, 'holdsOpen'),
      registers: [registry],
      aggregator: 'max',
      async collect() {
        if (quota.holdTtlMs === undefined) return
        try {
          this.set((await quota.holds.sweep()).open)
        } catch {
          // An unavailable store must not break the other metrics.
          this.set(Number.NaN)
        }
      },
    }),
    settingsVersion: new Gauge({
      ...described(options, 'settingsVersion'),
      registers: [registry],
      aggregator: 'min',
      collect() {
        this.set(quota.settings.current().settings.version)
      },
    }),
    adaptiveFactor: new Gauge({
      ...described(options, 'adaptiveFactor'),
      registers: [registry],
      aggregator: 'average',
      collect() {
        this.set(quota.settings.current().adaptiveFactor)
      },
    }),
  }
}

/** The options of a {@link Tally}. */
interface TallyOptions {
  readonly name: string
  readonly help: string
  readonly registry: Registry<RegistryContentType>
  /** All combinations exist from the start, at 0. */
  readonly labels: LabelValues
}

/** A prom-client counter whose values are collected in a table. */
class Tally {
  readonly counter: Counter
  readonly #table: CountTable

  constructor({ name, help, registry, labels }: TallyOptions) {
    this.#table = new CountTable(labels)
    this.counter = new Counter({
      name,
      help,
      registers: [registry],
      labelNames: Object.keys(labels),
      collect: () => this.#handOver(),
    })
    for (const combination of this.#table.combinations) this.counter.inc(combination, 0)
  }

  /** @param values one per label, in the order of the labels */
  raise(by: number, ...values: readonly string[]): void {
    this.#table.raise(by, ...values)
  }

  #handOver(): void {
    const { counts, combinations } = this.#table
    for (const [at, by] of counts.entries()) {
      if (by === 0) continue
      counts[at] = 0
      this.counter.inc(combinations[at]!, by)
    }
  }
}
