import { context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { Registry } from 'prom-client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createQuota, type Decision, memorySettings, memoryStore, type Quota, simpleQuota } from '../src/index.ts'
import { instrumentQuota } from '../src/otel.ts'
import { registerQuotaMetrics } from '../src/prometheus.ts'
import type { AsyncStore, TakeRequest } from '../src/store.ts'
import { waitingQueue } from '../src/waiting.ts'
import { fixture, flatBase, testClock, testPolicy } from './support.ts'

/** Samples of the text format, without comments, in order. */
function samplesOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return lines.map(inOrder).sort()
}

/** Labels in one order; a bound of a histogram as a number. */
function inOrder(line: string): string {
  const [, name = '', , labels = '', value = ''] = /^([^{ ]+)(\{(.*)\})? (.+)$/.exec(line) ?? []
  return `${name}{${labels.split(',').sort().join(',')}} ${value}`
}

/** The counts of an engine: by prom-client, and by OpenTelemetry as its own exporter writes it for Prometheus. */
async function bothOf(registry: Registry, exporter: PrometheusExporter): Promise<[string[], string[]]> {
  const { resourceMetrics } = await exporter.collect()
  const text = new PrometheusSerializer(undefined, false, undefined, true, true).serialize(resourceMetrics)
  return [samplesOf(await registry.metrics()), samplesOf(text)]
}

describe('metrics', () => {
  it('are those of prom-client, name by name and number by number', async () => {
    const { quota, clock } = fixture({ policy: testPolicy(flatBase(31, 1_000)) })
    const registry = new Registry()
    const exporter = new PrometheusExporter({ preventServerStart: true })
    const provider = new MeterProvider({ readers: [exporter] })
    registerQuotaMetrics({ quota, registry })
    const stop = instrumentQuota({ quota, meter: provider.getMeter('test') })
    const [before, same] = await bothOf(registry, exporter)
    // An OpenTelemetry histogram has no series before the first value.
    expect(same).toEqual(before.filter((line) => !line.includes('_duration_')))

    for (const subject of ['a', 'b', 'a', 'a', 'b', 'a']) await quota.consume({ subject, operation: 'write' })
    const queue = waitingQueue(quota)
    const waits = queue.reserve({ subject: 'a', operation: 'write', expectGiveBacks: true })
    expect(await queue.reserve({ subject: 'f', operation: 'big' })).toMatchObject({ reason: 'too_large' })
    await quota.consume({ subject: 'a', operation: 'read' })
    expect(samplesOf(await registry.metrics())).toContain('scoregw_quota_waiting_requests{} 1')
    const held = await quota.reserve({ subject: 'c', operation: 'write', ttlMs: 1_000 })
    expect(held.status).toBe('reserved')
    await quota.settings.update({ shadow: { personal: 'all' } })
    await quota.consume({ subject: 'a', operation: 'write' })
    const [open, openHere] = await bothOf(registry, exporter)
    expect(open).toContain('scoregw_quota_holds_open{} 1')
    expect(withSeen(openHere)).toEqual(withSeen(open))
    clock.at += 2_000
    await quota.holds.sweep()
    expect(await waits).toMatchObject({ status: 'reserved' })
    const [after, afterHere] = await bothOf(registry, exporter)
    expect(withSeen(afterHere)).toEqual(withSeen(after))
    for (const name of ['refusals_total', 'shadowed_refusals_total', 'near_limit_total', 'holds_expired_total']) {
      expect(after.some((line) => line.includes(`_${name}{`) && !line.endsWith(' 0'))).toBe(true)
    }

    expect(after).toContain('scoregw_quota_waiting_requests{} 0')
    expect(after).toContain('scoregw_quota_waits_total{category="write",outcome="admitted"} 1')
    expect(after).toContain('scoregw_quota_waits_total{category="write",outcome="too_large"} 1')
    expect(after).toContain('scoregw_quota_wait_duration_seconds_count{} 2')

    stop()
    await quota.consume({ subject: 'z', operation: 'read' })
    const [, stopped] = await bothOf(registry, exporter)
    expect(stopped).toEqual(afterHere)
    await provider.shutdown()
    await quota.close()
  })

  it('go to the global meter, under a prefix of one`s own', async () => {
    const exporter = new PrometheusExporter({ preventServerStart: true })
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }))
    try {
      const { quota } = fixture()
      const stop = instrumentQuota({ quota, prefix: 'mine_' })
      const { resourceMetrics } = await exporter.collect()
      const [scope] = resourceMetrics.scopeMetrics
      expect(scope?.scope.name).toBe('@scoregw/quota')
      expect(scope?.metrics.map(({ descriptor }) => descriptor.name)).toContain('mine_decisions_total')
      stop()
    } finally {
      metrics.disable()
    }
  })

  it.each([
    [{}, 'quota: missing; expected an engine'],
    [{ quota: 5 }, 'quota: expected an engine: what createQuota() gives'],
    [{ quota: fixture().quota, meter: {} }, 'meter: expected a meter of @opentelemetry/api'],
    [{ quota: fixture().quota, span: false }, 'span: unknown key; did you mean "spans"?'],
  ])('refuse wrong options', (options, message) => {
    expect(() => instrumentQuota(options as never)).toThrow(message)
  })
})

/** Durations differ by nothing but the outcomes that were never seen: prom-client has these at 0. */
function withSeen(lines: readonly string[]): string[] {
  const isUnseen = (line: string): boolean => line.includes('decision_duration') && line.includes('outcome="degraded"')
  return lines.filter((line) => !isUnseen(line))
}

describe('spans', () => {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    trace.setGlobalTracerProvider(provider)
  })
  afterEach(() => exporter.reset())
  afterAll(() => {
    context.disable()
    trace.disable()
  })

  async function spanOf(work: () => Promise<Decision | undefined>): Promise<ReadableSpan> {
    await trace.getTracer('test').startActiveSpan('request', async (span) => {
      await work().catch(() => undefined)
      span.end()
    })
    return exporter.getFinishedSpans().at(-1)!
  }

  it('name the decision, the limit and the remainder, and not the subject', async () => {
    const { quota } = fixture({ policy: testPolicy(flatBase(31, 1_000)) })
    const stop = instrumentQuota({ quota })
    const ask = () => quota.consume({ subject: 'ann', operation: 'write' })
    expect((await spanOf(ask)).attributes).toEqual({
      'quota.decision': 'admitted',
      'quota.allowed': true,
      'quota.operation': 'write',
      'quota.category': 'write',
      'quota.cost': 15,
      'quota.limit': 'personal 1h',
      'quota.limit.tokens': 31,
      'quota.remaining': 16,
    })
    await ask()
    expect((await spanOf(ask)).attributes).toMatchObject({
      'quota.decision': 'refused',
      'quota.allowed': false,
      'quota.limit': 'personal 1d',
      'quota.remaining': 1,
      'quota.retryable': true,
      'quota.retry_after_ms': 86_400_000,
    })
    stop()
    expect((await spanOf(ask)).attributes).toEqual({})
    const stopAgain = instrumentQuota({ quota, subjects: true })
    expect((await spanOf(ask)).attributes).toMatchObject({ 'quota.subject': 'ann' })
    stopAgain()
    const stopThird = instrumentQuota({ quota, spans: false })
    expect((await spanOf(ask)).attributes).toEqual({})
    stopThird()
    await quota.close()
  })

  it('name the burst of a bucket, which the remainder is a part of', async () => {
    const quota = simpleQuota({ limit: 100, per: '1m', burst: 20, clock: testClock() })
    const stop = instrumentQuota({ quota })
    const spend = (cost: number) => spanOf(() => quota.consume({ subject: 'ann', cost }))
    const limit = { 'quota.limit.tokens': 100, 'quota.limit.burst': 20 }
    expect((await spend(17)).attributes).toMatchObject({ ...limit, 'quota.remaining': 3 })
    expect((await spend(5)).attributes).toMatchObject({
      ...limit,
      'quota.remaining': 3,
      'quota.retry_after_ms': 1_200,
    })
    stop()
    await quota.close()
  })

  it('are those of each request, also where one answer of a store is for many', async () => {
    const { store, answer } = batching()
    const quota: Quota = createQuota({
      policy: testPolicy(flatBase(31, 1_000)),
      store,
      settingsStore: memorySettings(),
    })
    const stop = instrumentQuota({ quota })
    await quota.ready()
    const spans = ['a', 'b', 'c'].map((subject, at) =>
      trace.getTracer('test').startActiveSpan(subject, async (span) => {
        await quota.consume({ subject, operation: 'write', cost: at + 1 })
        span.end()
      }),
    )
    await answer(3)
    await Promise.all(spans)
    const costs = exporter.getFinishedSpans().map(({ name, attributes }) => [name, attributes['quota.cost']])
    expect(costs).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ])
    stop()
    await quota.close()
  })
})

/** A store that answers many takes at once, outside of everybody's context. */
function batching(): { store: AsyncStore; answer: (count: number) => Promise<void> } {
  const inner = memoryStore()
  const waiting: (() => void)[] = []
  const asked: { count: number; enough: (() => void) | undefined } = { count: 0, enough: undefined }
  const store: AsyncStore = {
    sync: false,
    open(schema) {
      const counters = inner.open(schema)
      return {
        take: (request: TakeRequest) =>
          new Promise((resolve) => {
            waiting.push(() => resolve(counters.take(request)))
            asked.count++
            asked.enough?.()
          }),
        read: async (request) => counters.read(request),
        settle: async (request) => counters.settle(request),
        reset: async (request) => counters.reset(request),
      }
    },
  }
  const answer = async (count: number): Promise<void> => {
    while (asked.count < count) {
      await new Promise<void>((resolve) => {
        asked.enough = resolve
      })
    }
    context.with(context.active(), () => {
      for (const each of waiting) each()
    })
  }
  return { store, answer }
}
