import {
  type Attributes,
  type BatchObservableCallback,
  type Counter,
  type Meter,
  metrics,
  type Observable,
  trace,
} from '@opentelemetry/api'
import {
  type AdmittedDecision,
  type Decision,
  type LimitStatus,
  listedLimits,
  type RefusedDecision,
} from '../decision/decision.ts'
import { having, oneOf, optional, textLike, withDefault } from '../options/checks.ts'
import { optionsParser } from '../options/options-parser.ts'
import {
  beginNearLimit,
  byCount,
  type Counted,
  CountTable,
  DURATION_BUCKETS,
  enginePart,
  type FollowedMetrics,
  follow,
  METRICS,
  type MetricKey,
  OUTCOMES,
  PREFIX,
  type QuotaMetricsOptions,
  WAIT_BUCKETS,
} from './definitions.ts'

/**
 * Reports an engine's decisions to OpenTelemetry: the same metrics as `registerQuotaMetrics()`, and attributes of the
 * active span. Call it after the SDK has started.
 *
 * @returns a function that stops it; call it with `quota.close()`
 */
export function instrumentQuota(options: QuotaTelemetryOptions): () => void {
  const { quota, meter = metrics.getMeter('@scoregw/quota'), prefix, spans, subjects } = parseTelemetryOptions(options)
  const stops = [countInMeter(quota, meter, prefix), ...(spans ? [reportSpans(quota, subjects)] : [])]
  return () => {
    for (const stop of stops) stop()
  }
}

type EnginePart = QuotaMetricsOptions['quota']

/** Returns the options of a metric. */
type Described = (
  key: MetricKey,
  unit?: string,
) => readonly [name: string, options: { description: string; unit?: string }]

/**
 * Counts an engine's events in a meter. The names are those of prom-client. A Prometheus exporter doesn't append a
 * suffix that is already there.
 *
 * @returns a function that stops it
 */
function countInMeter(quota: EnginePart, meter: Meter, prefix: string): () => void {
  const described: Described = (key, unit) => {
    const [name, description] = METRICS[key]
    return [prefix + name, { description, ...(unit === undefined ? {} : { unit }) }]
  }
  const tables = byCount(quota.policy, (_, labels) => new CountTable(labels))
  const stops = [
    ...Object.values(byCount(quota.policy, (key) => observeTable(meter, described(key), tables[key]))),
    ...gauges(quota, meter, described),
    follow(quota, {
      ...tables,
      nearLimit: nearLimit(quota, meter, described),
      duration: duration(meter, described),
      ...ofQueue(meter, described),
    }),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

/** Reports totals since the start, when metrics are collected. */
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
    gauge('settingsVersion', () => quota.settings.current().settings.version),
    gauge('adaptiveFactor', () => quota.settings.current().adaptiveFactor),
    // Without holds, or with an unavailable store, the other metrics must still work.
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

function ofQueue(meter: Meter, described: Described): Pick<FollowedMetrics, 'waiting' | 'waitDuration'> {
  const waiting = meter.createGauge(...described('waiting'))
  waiting.record(0)
  const [name, options] = described('waitDuration', 's')
  const histogram = meter.createHistogram(name, { ...options, advice: { explicitBucketBoundaries: [...WAIT_BUCKETS] } })
  return {
    waiting: { set: (requests) => waiting.record(requests) },
    waitDuration: { observe: (seconds) => histogram.record(seconds) },
  }
}

function nearLimit(quota: EnginePart, meter: Meter, described: Described): Counted {
  const counter: Counter = meter.createCounter(...described('nearLimit'))
  const counted: Counted = {
    raise: (by, ...[limit = '', threshold = '']) => counter.add(by, { limit, threshold }),
  }
  beginNearLimit(quota, counted)
  return counted
}

/** The options of {@link instrumentQuota}. */
export interface QuotaTelemetryOptions {
  /** The engine whose decisions are reported. */
  readonly quota: QuotaMetricsOptions['quota']
  /**
   * The meter for the metrics.
   *
   * @default the global meter `@scoregw/quota`
   */
  readonly meter?: Meter | undefined
  /**
   * The prefix of every metric's name. Engines that share a meter need different ones.
   *
   * @default 'scoregw_quota_'
   */
  readonly prefix?: string | undefined
  /**
   * Whether decisions are reported as attributes of the active span.
   *
   * @default true
   */
  readonly spans?: boolean | undefined
  /**
   * Whether the attributes include the subject. Spans often have more readers than your users' data should have.
   *
   * @default false
   */
  readonly subjects?: boolean | undefined
}

/** The options with defaults. */
interface ParsedTelemetryOptions extends QuotaTelemetryOptions {
  readonly prefix: string
  readonly spans: boolean
  readonly subjects: boolean
}

/** @throws {QuotaError} `invalid_options` naming every fault */
const parseTelemetryOptions: (options: unknown) => ParsedTelemetryOptions = /* @__PURE__ */ optionsParser(
  'instrumentQuota()',
  () => ({
    quota: enginePart(),
    meter: optional(having<Meter>(['createHistogram', 'createObservableCounter'], 'a meter of @opentelemetry/api')),
    prefix: withDefault(
      textLike(/^[a-zA-Z][a-zA-Z0-9_.\-/]*$/, 'the beginning of a metric name: letters, digits, _ . - /'),
      PREFIX,
    ),
    spans: withDefault(oneOf(true, false), true),
    subjects: withDefault(oneOf(true, false), false),
  }),
)

/**
 * Reports each decision as attributes of the span that was active for the request. A span that isn't recorded costs one
 * check. The last decision in a span wins.
 *
 * @returns a function that stops it
 */
function reportSpans(quota: QuotaMetricsOptions['quota'], hasSubjects: boolean): () => void {
  const report = (attributes: () => Attributes): void => {
    const span = trace.getActiveSpan()
    if (span?.isRecording() === true) span.setAttributes(attributes())
  }
  const stops = [
    quota.on('admitted', (decision) => report(() => ofAdmitted(decision, hasSubjects))),
    quota.on('refused', (decision) => report(() => ofRefused(decision, hasSubjects))),
    // A listener for `degraded` would silence the log.
    quota.on('decided', ({ operation, outcome, allowed }) => {
      if (outcome !== 'degraded') return
      report(() => ({ 'quota.decision': 'degraded', 'quota.allowed': allowed, 'quota.operation': operation }))
    }),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

function ofDecision(decision: Decision, hasSubjects: boolean): Attributes {
  const { allowed, operation, cost, subject } = decision
  const who = typeof subject === 'string' ? subject : JSON.stringify(subject)
  return {
    'quota.decision': allowed ? 'admitted' : 'refused',
    'quota.allowed': allowed,
    'quota.operation': operation,
    'quota.cost': cost,
    ...(hasSubjects ? { 'quota.subject': who } : {}),
  }
}

function ofAdmitted(decision: AdmittedDecision, hasSubjects: boolean): Attributes {
  const tightest = tightestOf(decision)
  return {
    ...ofDecision(decision, hasSubjects),
    ...(tightest === undefined ? {} : ofLimit(tightest, tightest.limit, Number(tightest.remaining))),
  }
}

function ofRefused(decision: RefusedDecision, hasSubjects: boolean): Attributes {
  const { refusedBy, retryAfterMs, retryable } = decision
  return {
    ...ofDecision(decision, hasSubjects),
    ...ofLimit(refusedBy, refusedBy.limit, Math.max(0, (refusedBy.burst ?? refusedBy.limit) - refusedBy.used)),
    'quota.retryable': retryable,
    ...(retryAfterMs === null ? {} : { 'quota.retry_after_ms': retryAfterMs }),
  }
}

function ofLimit({ name, burst }: NamedLimit, limit: number, remaining: number): Attributes {
  return {
    'quota.limit': name,
    'quota.limit.size': limit,
    // `quota.remaining` refers to the burst.
    ...(burst === undefined ? {} : { 'quota.limit.burst': burst }),
    'quota.remaining': remaining,
  }
}

type NamedLimit = Pick<LimitStatus, 'name' | 'burst'>

type Finite = LimitStatus & { readonly limit: number }

/** Returns the limit with the smallest remaining share. */
function tightestOf({ limits }: AdmittedDecision): Finite | undefined {
  const counted = listedLimits(limits).filter(
    (each): each is Finite => each.enforced && each.used !== null && each.limit !== 'unlimited',
  )
  const share = ({ remaining, limit, burst = limit }: Finite): number => Number(remaining) / Number(burst)
  return counted.length === 0 ? undefined : counted.reduce((best, each) => (share(each) < share(best) ? each : best))
}
