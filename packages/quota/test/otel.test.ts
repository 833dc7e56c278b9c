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
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createQuota, type Decision, memorySettings, memoryStore, type Quota } from '../src/index.ts'
import { instrumentQuota } from '../src/otel.ts'
import { registerQuotaMetrics } from '../src/prometheus.ts'
import type { AsyncStore, TakeRequest } from '../src/store.ts'
import { waitingQueue } from '../src/waiting.ts'
import { flatLimits, gateway, gatewayPolicy, testClock } from './support.ts'

/** Every limit of a person's writes. */
const SHADOWED = { 'personal-write-1h': true, 'personal-write-5h': true, 'personal-write-1d': true }

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

/** One engine, counted by prom-client and by OpenTelemetry at the same time. */
function countedTwice() {
  const { quota, clock } = gateway({ policy: gatewayPolicy(flatLimits(31, 1_000)) })
  const registry = new Registry()
  const exporter = new PrometheusExporter({ preventServerStart: true })
  const provider = new MeterProvider({ readers: [exporter] })
  registerQuotaMetrics({ quota, registry })
  const stop = instrumentQuota({ quota, meter: provider.getMeter('test') })
  onTestFinished(async () => {
    await provider.shutdown()
    await quota.close()
  })
  const byPromClient = async (): Promise<string[]> => samplesOf(await registry.metrics())
  /** As OpenTelemetry's own exporter writes them for Prometheus. */
  const byOpenTelemetry = async (): Promise<string[]> => {
    const { resourceMetrics } = await exporter.collect()
    return samplesOf(new PrometheusSerializer(undefined, false, undefined, true, true).serialize(resourceMetrics))
  }
  /** The samples, after a check that both have the same. */
  const samples = async (): Promise<string[]> => {
    const [lines, others] = [await byPromClient(), await byOpenTelemetry()]
    expect(others).toEqual(lines.filter((line) => others.includes(line) || !isUnseenDuration(line)))
    return lines
  }
  return { quota, clock, stop, byPromClient, byOpenTelemetry, samples }
}

/** A histogram of OpenTelemetry has no series before its first value; those of prom-client are at 0. */
function isUnseenDuration(line: string): boolean {
  return line.includes('_duration_') && line.endsWith(' 0')
}

describe('metrics by OpenTelemetry and by prom-client', () => {
  it('OpenTelemetry and prom-client metrics are equal before the first request', async () => {
    expect(await countedTwice().samples()).toContain('scoregw_quota_waiting_requests{} 0')
  })

  it('OpenTelemetry and prom-client count refusals, shadowed refusals and near limits equally', async () => {
    const { quota, samples } = countedTwice()
    for (const subject of ['a', 'b', 'a', 'a', 'b', 'a']) await quota.consume({ subject, operation: 'write' })
    await quota.consume({ subject: 'a', operation: 'read' })
    await quota.settings.update({ shadow: SHADOWED })
    await quota.consume({ subject: 'a', operation: 'write' })
    const lines = await samples()
    for (const name of ['refusals_total', 'shadowed_refusals_total', 'near_limit_total']) {
      expect(lines.some((line) => line.includes(`_${name}{`) && !line.endsWith(' 0'))).toBe(true)
    }
  })

  it('OpenTelemetry and prom-client count open and expired holds equally', async () => {
    const { quota, clock, samples } = countedTwice()
    const held = await quota.reserve({ subject: 'c', operation: 'write', ttlMs: 1_000 })
    expect(held.status).toBe('reserved')
    expect(await samples()).toContain('scoregw_quota_holds_open{} 1')
    clock.at += 2_000
    await quota.holds.sweep()
    const lines = await samples()
    expect(lines).toContain('scoregw_quota_holds_open{} 0')
    expect(lines).toContain('scoregw_quota_holds_expired_total{operation="write"} 1')
  })

  it('OpenTelemetry and prom-client count waiting requests and their wait times equally', async () => {
    const { quota, clock, samples, byPromClient } = countedTwice()
    for (const subject of ['a', 'a']) await quota.consume({ subject, operation: 'write' })
    await quota.reserve({ subject: 'a', operation: 'write', ttlMs: 1_000 })
    const queue = waitingQueue(quota)
    const waits = queue.reserve({ subject: 'a', operation: 'write', expectGiveBacks: true })
    expect(await queue.reserve({ subject: 'f', operation: 'big' })).toMatchObject({ reason: 'too_large' })
    expect(await byPromClient()).toContain('scoregw_quota_waiting_requests{} 1')
    await quota.settings.update({ shadow: SHADOWED })
    clock.at += 2_000
    await quota.holds.sweep()
    expect(await waits).toMatchObject({ status: 'reserved' })
    const lines = await samples()
    expect(lines).toContain('scoregw_quota_waiting_requests{} 0')
    expect(lines).toContain('scoregw_quota_waits_total{operation="write",outcome="admitted"} 1')
    expect(lines).toContain('scoregw_quota_waits_total{operation="big",outcome="too_large"} 1')
    expect(lines).toContain('scoregw_quota_wait_duration_seconds_count{} 2')
  })

  it('OpenTelemetry metrics stop changing when instrumentation is stopped', async () => {
    const { quota, stop, byOpenTelemetry } = countedTwice()
    await quota.consume({ subject: 'a', operation: 'read' })
    const before = await byOpenTelemetry()
    stop()
    await quota.consume({ subject: 'z', operation: 'read' })
    expect(await byOpenTelemetry()).toEqual(before)
  })
})

describe('instrumentQuota', () => {
  it('instrumentQuota() without a provider uses the global meter and your prefix', async () => {
    const exporter = new PrometheusExporter({ preventServerStart: true })
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }))
    try {
      const { quota } = gateway()
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
    [{ quota: gateway().quota, meter: {} }, 'meter: expected a meter of @opentelemetry/api'],
    [{ quota: gateway().quota, span: false }, 'span: unknown key; did you mean "spans"?'],
  ])('instrumentQuota() rejects the options %j', (options, message) => {
    expect(() => instrumentQuota(options as never)).toThrow(message)
  })
})

describe('OpenTelemetry spans', () => {
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

  async function instrumented(options: { readonly subjects?: boolean; readonly spans?: boolean } = {}) {
    const { quota } = gateway({ policy: gatewayPolicy(flatLimits(31, 1_000)) })
    const stop = instrumentQuota({ quota, ...options })
    onTestFinished(async () => {
      stop()
      await quota.close()
    })
    return { stop, write: () => quota.consume({ subject: 'ann', operation: 'write' }) }
  }

  it('spans have the decision, the limit and the remainder but not the subject', async () => {
    const { write } = await instrumented()
    expect((await spanOf(write)).attributes).toEqual({
      'quota.decision': 'admitted',
      'quota.allowed': true,
      'quota.operation': 'write',
      'quota.cost': 15,
      'quota.limit': 'personal-write-1h',
      'quota.limit.size': 31,
      'quota.remaining': 16,
    })
  })

  it('spans of refusals have the time to retry', async () => {
    const { write } = await instrumented()
    await write()
    await write()
    expect((await spanOf(write)).attributes).toMatchObject({
      'quota.decision': 'refused',
      'quota.allowed': false,
      'quota.limit': 'personal-write-1d',
      'quota.remaining': 1,
      'quota.retryable': true,
      'quota.retry_after_ms': 86_400_000,
    })
  })

  it('spans have the subject if you opt in', async () => {
    const { write } = await instrumented({ subjects: true })
    expect((await spanOf(write)).attributes).toMatchObject({ 'quota.subject': 'ann' })
  })

  it('spans get no attributes with `spans: false` or after instrumentation was stopped', async () => {
    const without = await instrumented({ spans: false })
    expect((await spanOf(without.write)).attributes).toEqual({})
    const stopped = await instrumented()
    stopped.stop()
    expect((await spanOf(stopped.write)).attributes).toEqual({})
  })

  it('spans have the burst and the remainder of a bucket', async () => {
    const quota = createQuota({
      limits: { calls: { by: 'user', limit: 100, per: '1m', burst: 20 } },
      clock: testClock(),
    })
    const stop = instrumentQuota({ quota })
    const spend = (cost: number) => spanOf(() => quota.consume({ subject: 'ann', cost }))
    const limit = { 'quota.limit.size': 100, 'quota.limit.burst': 20 }
    expect((await spend(17)).attributes).toMatchObject({ ...limit, 'quota.remaining': 3 })
    expect((await spend(5)).attributes).toMatchObject({
      ...limit,
      'quota.remaining': 3,
      'quota.retry_after_ms': 1_200,
    })
    stop()
    await quota.close()
  })

  it('spans get their own decision when a store answers several requests together', async () => {
    const { store, answer } = batching()
    const quota: Quota = createQuota({
      policy: gatewayPolicy(flatLimits(31, 1_000)),
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

/** A store that answers several takes together, outside of their contexts. */
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
