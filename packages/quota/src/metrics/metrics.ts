import { Counter, Gauge, Histogram, type Metric } from 'prom-client'
import {
  beginNearLimit,
  byCount,
  type Counted,
  countLabels,
  DURATION_BUCKETS,
  type FollowedMetrics,
  METRIC_HELP,
  METRIC_NAMES,
  type MetricKey,
  OUTCOMES,
} from './definitions.ts'
import type { ParsedOptions } from './options.ts'
import { Tally } from './tally.ts'

/** The metrics of an engine in a registry of prom-client. */
export interface RegisteredMetrics {
  readonly followed: FollowedMetrics
  /** Everything that was registered. */
  readonly all: Readonly<Record<MetricKey, Metric>>
}

/** Makes and registers all of them, at 0, so that a rate also sees the first event. */
export function makeMetrics(options: ParsedOptions): RegisteredMetrics {
  const { registry } = options
  const labels = countLabels(options.quota.policy)
  const tallies = byCount((key) => new Tally({ ...described(options, key), registry, labels: labels[key] }))
  const nearLimit = new Counter({
    ...described(options, 'nearLimit'),
    registers: [registry],
    labelNames: ['layer', 'window', 'category', 'threshold'],
  })
  const duration = new Histogram({
    ...described(options, 'duration'),
    registers: [registry],
    labelNames: ['outcome'],
    buckets: [...DURATION_BUCKETS],
  })
  for (const outcome of OUTCOMES) duration.zero({ outcome })
  const nearLimitCounted: Counted = {
    raise: (by, ...[layer = '', window = '', category = '', threshold = '']) =>
      nearLimit.inc({ layer, window, category, threshold }, by),
  }
  beginNearLimit(options.quota, nearLimitCounted)
  const followed = {
    ...tallies,
    nearLimit: nearLimitCounted,
    duration: { observe: (seconds: number, outcome: string) => duration.observe({ outcome }, seconds) },
  }
  return { followed, all: { ...byCount((key) => tallies[key].counter), nearLimit, duration, ...gauges(options) } }
}

function described({ prefix }: ParsedOptions, key: MetricKey): { readonly name: string; readonly help: string } {
  return { name: prefix + METRIC_NAMES[key], help: METRIC_HELP[key] }
}

/** They are not set by events: what is in force is asked when the metrics are read. */
function gauges(options: ParsedOptions): Record<'settingsVersion' | 'adaptiveFactor' | 'holdsOpen', Gauge> {
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
          // A store that is away must not take the other metrics with it.
          this.set(Number.NaN)
        }
      },
    }),
    settingsVersion: new Gauge({
      ...described(options, 'settingsVersion'),
      registers: [registry],
      aggregator: 'min',
      collect() {
        this.set(quota.inForce().settings.version)
      },
    }),
    adaptiveFactor: new Gauge({
      ...described(options, 'adaptiveFactor'),
      registers: [registry],
      aggregator: 'average',
      collect() {
        this.set(quota.inForce().adaptiveFactor)
      },
    }),
  }
}
