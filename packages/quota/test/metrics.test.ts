import { Registry, type RegistryContentType } from 'prom-client'
import { describe, expect, it, vi } from 'vitest'
import { initialFactor, memoryFactor } from '../src/adaptive.ts'
import { createQuota, memorySettings, memoryStore, QuotaError } from '../src/index.ts'
import { registerQuotaMetrics } from '../src/prometheus.ts'
import type { SyncStore } from '../src/store.ts'
import {
  flatLimits,
  type GatewayEngine,
  gateway,
  gatewayPolicy,
  type SyncGatewayOptions,
  testClock,
} from './support.ts'

interface Measured extends GatewayEngine {
  readonly registry: Registry
  readonly unregister: () => void
  /** Samples above 0, `name{labels}` without the prefix. */
  readonly samples: () => Promise<Record<string, number>>
}

async function samplesOf(registry: Registry, prefix = 'scoregw_quota_'): Promise<Record<string, number>> {
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith(prefix))
  const pairs = lines.map((line) => /^(.+) (\S+)$/.exec(line.slice(prefix.length))!.slice(1))
  return Object.fromEntries(pairs.map(([name, value]) => [name!.replaceAll('"', ''), Number(value)]))
}

function measured(options: Partial<SyncGatewayOptions> = {}): Measured {
  const made = gateway(options)
  const registry = new Registry()
  const unregister = registerQuotaMetrics({ quota: made.quota, registry })
  const samples = async () => {
    const all = Object.entries(await samplesOf(registry))
    return Object.fromEntries(all.filter(([name, value]) => value !== 0 && !name.includes('_duration_')))
  }
  return { ...made, registry, unregister, samples }
}

/** A stopwatch that is 3 ms further at every look. */
function threeMsALook() {
  let at = 1_000
  return vi.fn(() => {
    at += 3
    return at
  })
}

describe('engine metrics', () => {
  it('metrics count decisions, units and refusals, also by limit', async () => {
    const { quota, samples } = measured({ policy: gatewayPolicy(flatLimits(31, 1_000)) })
    for (const subject of ['a', 'b']) {
      for (let call = 0; call < 3; call++) await quota.consume({ subject, operation: 'write' })
    }
    await quota.consume({ subject: 'a', operation: 'read' })
    const limits = (of: string, outcome: string, count: number) =>
      ['1h', '5h', '1d'].map((per) => [`limit_decisions_total{limit=${of}-${per},outcome=${outcome}}`, count])
    expect(await samples()).toEqual({
      'decisions_total{operation=read,outcome=admitted}': 1,
      'decisions_total{operation=write,outcome=admitted}': 4,
      'decisions_total{operation=write,outcome=refused}': 2,
      'units_charged_total{operation=read,unit=tokens}': 4,
      'units_charged_total{operation=write,unit=tokens}': 60,
      ...Object.fromEntries(limits('personal-write', 'admitted', 4)),
      ...Object.fromEntries(limits('site-write', 'admitted', 4)),
      ...Object.fromEntries(limits('personal-write', 'refused', 2)),
      ...Object.fromEntries(limits('personal-read', 'admitted', 1)),
      ...Object.fromEntries(limits('site-read', 'admitted', 1)),
      'refusals_total{limit=personal-write-1d}': 2,
      'near_limit_total{limit=personal-write-1h,threshold=80%}': 2,
      'near_limit_total{limit=personal-write-5h,threshold=80%}': 2,
      'near_limit_total{limit=personal-write-1d,threshold=80%}': 2,
      adaptive_factor: 1,
    })
  })

  it('metrics leave out limits of layers that don’t apply', async () => {
    const { quota, samples } = measured()
    await quota.subjects.set('vip', { bypass: { site: true } })
    quota.consumeSync({ subject: 'vip', operation: 'read' })
    expect(Object.keys(await samples()).filter((name) => name.includes('site'))).toEqual([])
  })

  it('metrics leave out free requests, peeks and repeats under an id', async () => {
    const { quota, samples } = measured()
    quota.consumeSync({ subject: 'u', operation: 'free' })
    quota.peekSync({ subject: 'u', operation: 'write' })
    quota.reserveSync({ subject: 'u', operation: 'write', id: 'x' })
    quota.reserveSync({ subject: 'u', operation: 'write', id: 'x' })
    expect(await samples()).toMatchObject({ 'decisions_total{operation=write,outcome=admitted}': 1 })
  })

  it('metrics count decisions of the failure policy', async () => {
    const inner = memoryStore()
    const store: SyncStore = {
      sync: true,
      open(schema) {
        const counters = inner.open(schema)
        const take = (): never => {
          throw new Error('gone')
        }
        return { take, read: counters.read, settle: counters.settle, reset: counters.reset }
      },
    }
    const { quota, samples } = measured({ store, failurePolicy: { read: 'open' } })
    await quota.consume({ subject: 'u', operation: 'read' })
    await expect(quota.consume({ subject: 'u', operation: 'write' })).rejects.toThrow(QuotaError)
    await expect(quota.reserve({ subject: 'u', operation: 'write' })).rejects.toThrow(QuotaError)
    expect(await samples()).toEqual({
      'decisions_total{operation=read,outcome=degraded}': 1,
      'decisions_total{operation=write,outcome=degraded}': 2,
      'degraded_decisions_total{operation=read,outcome=admitted}': 1,
      'degraded_decisions_total{operation=write,outcome=unavailable}': 2,
      adaptive_factor: 1,
    })
  })

  it('metrics report the duration of decisions in seconds', async () => {
    const { quota, registry } = measured({ stopwatch: threeMsALook() })
    quota.consumeSync({ subject: 'u', operation: 'write' })
    await quota.reserve({ subject: 'u', operation: 'write' })
    await quota.consume({ subject: 'u', operation: 'write', cost: 50 })
    const samples = await samplesOf(registry)
    expect(samples).toMatchObject({
      'decision_duration_seconds_bucket{le=0.0025,outcome=admitted}': 0,
      'decision_duration_seconds_bucket{le=0.005,outcome=admitted}': 2,
      'decision_duration_seconds_count{outcome=admitted}': 2,
      'decision_duration_seconds_count{outcome=refused}': 1,
      'decision_duration_seconds_count{outcome=degraded}': 0,
    })
    expect(samples['decision_duration_seconds_sum{outcome=admitted}']).toBeCloseTo(0.006, 9)
  })

  it('metrics report the settings and factor in force, also from before they were registered', async () => {
    const factor = memoryFactor()
    const settingsStore = memorySettings()
    const options = { settingsStore, adaptive: { factor } }
    const first = measured(options)
    await first.quota.settings.update({ mode: 'adaptive' })
    factor.compareAndSet(0, 1, { ...initialFactor(), factorHundredths: 85 })
    expect(await first.samples()).toEqual({ settings_version: 1, adaptive_factor: 0.85 })
    const second = measured(options)
    await first.quota.settings.update({ mode: 'normal' })
    expect(await second.samples()).toEqual({ settings_version: 2, adaptive_factor: 0.85 })
  })

  it('the number of series depends on the policy’s names and not on subjects', async () => {
    const { quota, registry } = measured()
    const before = Object.keys(await samplesOf(registry)).length
    for (let user = 0; user < 500; user++) quota.consumeSync({ subject: `user-${user}`, operation: 'write', cost: 55 })
    const text = await registry.metrics()
    expect(Object.keys(await samplesOf(registry))).toHaveLength(before)
    expect(text).not.toContain('user-')
  })

  it('metric names follow Prometheus conventions', async () => {
    const { registry } = measured()
    for (const { name, type, help } of await registry.getMetricsAsJSON()) {
      expect(name).toMatch(/^scoregw_quota_[a-z]+(_[a-z]+)*$/)
      expect(name.endsWith('_total')).toBe(String(type) === 'counter')
      expect(name.endsWith('_seconds')).toBe(String(type) === 'histogram')
      expect(help).toMatch(/^[A-Z]/)
    }
  })

  it('metrics can be read from an OpenMetrics registry and restart when the registry is reset', async () => {
    const registry = new Registry<RegistryContentType>()
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
    const { quota } = gateway()
    registerQuotaMetrics({ quota, registry })
    quota.consumeSync({ subject: 'u', operation: 'write' })
    const admitted = 'scoregw_quota_decisions_total{operation="write",outcome="admitted"}'
    expect(await registry.metrics()).toContain(`${admitted} 1\n`)
    quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(await registry.metrics()).toContain(`${admitted} 2\n`)
    registry.resetMetrics()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(await registry.metrics()).toContain(`${admitted} 1\n`)
  })
})

describe('metrics of holds and thresholds', () => {
  function working() {
    const clock = testClock()
    const quota = createQuota({
      limits: {
        perHour: { by: 'user', limit: 100, per: '1h' },
        running: { by: 'user', concurrency: 1, for: 'chat' },
      },
      operations: { write: {}, chat: { cost: 10, overrun: 'charge', maxOverrun: 5 } },
      store: memoryStore({ clock }),
      clock,
    })
    const registry = new Registry()
    registerQuotaMetrics({ quota, registry })
    return { quota, clock, sample: async (name: string) => (await samplesOf(registry))[name] }
  }

  it('the slot metrics count only operations that take slots', async () => {
    const { quota, sample } = working()
    await quota.consume({ subject: 'u', operation: 'write' })
    expect(await sample('limit_decisions_total{limit=running,outcome=admitted}')).toBe(0)
    await quota.reserve({ subject: 'u', operation: 'chat' })
    await quota.reserve({ subject: 'u', operation: 'chat' })
    expect(await sample('limit_decisions_total{limit=running,outcome=admitted}')).toBe(1)
    expect(await sample('limit_decisions_total{limit=running,outcome=refused}')).toBe(1)
    expect(await sample('refusals_total{limit=running}')).toBe(1)
  })

  it('metrics report open holds, how they ended, and overruns', async () => {
    const { quota, clock, sample } = working()
    const first = await quota.reserve({ subject: 'u', operation: 'chat', ttlMs: 1_000 })
    await quota.reserve({ subject: 'v', operation: 'chat', ttlMs: 1_000 })
    expect(await sample('holds_open')).toBe(2)
    expect(await first.commit(17)).toEqual({ charged: 15, uncharged: 2 })
    expect(await sample('holds_open')).toBe(1)
    expect(await sample('overrun_units_total{operation=chat,outcome=charged,unit=requests}')).toBe(5)
    expect(await sample('overrun_units_total{operation=chat,outcome=uncharged,unit=requests}')).toBe(2)
    clock.at += 2_000
    expect(await sample('holds_open')).toBe(0)
    expect(await sample('holds_expired_total{operation=chat}')).toBe(1)
  })

  it('metrics report refusals by shadowed limits and thresholds by their value', async () => {
    const { quota, sample } = working()
    await quota.settings.update({ shadow: { perHour: true }, thresholds: [{ share: 0.57 }, { left: 20 }] })
    await quota.consume({ subject: 'u', operation: 'write', cost: 101 })
    const hour = 'limit=perHour'
    expect(await sample(`shadowed_refusals_total{${hour}}`)).toBe(1)
    expect(await sample(`near_limit_total{${hour},threshold=57%}`)).toBe(1)
    expect(await sample(`near_limit_total{${hour},threshold=20 left}`)).toBe(1)
  })
})

describe('registering metrics', () => {
  it('the function that registering returns removes every metric and stops measuring', async () => {
    const stopwatch = threeMsALook()
    const { quota, registry, unregister } = measured({ stopwatch })
    quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(stopwatch).toHaveBeenCalledTimes(2)
    unregister()
    unregister()
    expect(await registry.getMetricsAsJSON()).toEqual([])
    quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(stopwatch).toHaveBeenCalledTimes(2)
  })

  it('registering and removing leaves other metrics of the registry alone', () => {
    const { registry, unregister } = measured()
    registry.clear()
    registerQuotaMetrics({ quota: gateway().quota, registry })
    unregister()
    expect(registry.getSingleMetric('scoregw_quota_decisions_total')).toBeDefined()
  })

  it('two engines in one registry need two prefixes, and a failed registration leaves nothing behind', async () => {
    const { registry, quota } = measured()
    const other = gateway().quota
    registry.removeSingleMetric('scoregw_quota_decisions_total')
    const before = (await registry.getMetricsAsJSON()).length
    expect(() => registerQuotaMetrics({ quota: other, registry })).toThrow(
      expect.objectContaining({
        code: 'invalid_options',
        faults: [{ path: 'registry', message: expect.stringContaining('has scoregw_quota_limit_decisions_total') }],
      }),
    )
    expect((await registry.getMetricsAsJSON()).length).toBe(before)
    registerQuotaMetrics({ quota: other, registry, prefix: 'other_' })
    quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(await samplesOf(registry, 'other_')).toMatchObject({
      'units_charged_total{operation=write,unit=tokens}': 0,
    })
  })

  it('registering rejects values that aren’t an engine, a registry or a prefix', () => {
    const wrong = { quota: {}, registry: {}, prefix: '1 x', labels: [] } as unknown as Parameters<
      typeof registerQuotaMetrics
    >[0]
    expect(() => registerQuotaMetrics(wrong)).toThrow(
      expect.objectContaining({
        code: 'invalid_options',
        faults: [
          { path: 'quota', message: 'expected an engine: what createQuota() gives, got an object without on()' },
          {
            path: 'registry',
            message: "expected prom-client's register, or a new Registry(), got an object without registerMetric()",
          },
          { path: 'prefix', message: 'expected the beginning of a metric name: letters, digits, _ and :, got "1 x"' },
          { path: 'labels', message: 'unknown key; known keys: quota, registry, prefix' },
        ],
      }),
    )
  })
})
