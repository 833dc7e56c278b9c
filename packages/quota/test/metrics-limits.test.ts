import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createQuota, definePolicy, memoryStore } from '../src/index.ts'
import { registerQuotaMetrics } from '../src/prometheus.ts'
import { testClock } from './support.ts'

function measured() {
  const clock = testClock()
  const policy = definePolicy({
    windows: [{ label: '1h', lengthMs: 3_600_000 }],
    categories: ['write'],
    layers: [{ name: 'personal', scope: 'Personal', shared: false }],
    operations: {
      write: { category: 'write', cost: 1 },
      chat: { category: 'write', cost: 10, overrun: 'charge', maxOverrun: 5 },
    },
    concurrency: { label: 'running', operations: ['chat'] },
    base: { personal: { write: { '1h': 100, running: 1 } } },
  })
  const quota = createQuota({ policy, store: memoryStore({ clock }), clock })
  const registry = new Registry()
  const unregister = registerQuotaMetrics({ quota, registry })
  const sample = async (name: string): Promise<number | undefined> => {
    const lines = (await registry.metrics()).split('\n')
    const line = lines.find((each) => each.startsWith(`scoregw_quota_${name} `))
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1))
  }
  return { quota, clock, sample, unregister }
}

const LIMIT = 'layer="personal",window="running",category="write"'

it('the slot metrics count only operations that take slots', async () => {
  const { quota, sample } = measured()
  await quota.consume({ subject: 'u', operation: 'write' })
  expect(await sample(`window_decisions_total{${LIMIT},outcome="admitted"}`)).toBe(0)
  await quota.reserve({ subject: 'u', operation: 'chat' })
  await quota.reserve({ subject: 'u', operation: 'chat' })
  expect(await sample(`window_decisions_total{${LIMIT},outcome="admitted"}`)).toBe(1)
  expect(await sample(`window_decisions_total{${LIMIT},outcome="refused"}`)).toBe(1)
  expect(await sample(`refusals_total{${LIMIT}}`)).toBe(1)
})

it('metrics report open holds, how they ended, and overruns', async () => {
  const { quota, clock, sample } = measured()
  const first = await quota.reserve({ subject: 'u', operation: 'chat', ttlMs: 1_000 })
  await quota.reserve({ subject: 'v', operation: 'chat', ttlMs: 1_000 })
  expect(await sample('holds_open')).toBe(2)
  expect(await first.commit(17)).toEqual({ charged: 15, uncharged: 2 })
  expect(await sample('holds_open')).toBe(1)
  expect(await sample('overrun_tokens_total{category="write",outcome="charged"}')).toBe(5)
  expect(await sample('overrun_tokens_total{category="write",outcome="uncharged"}')).toBe(2)
  clock.at += 2_000
  expect(await sample('holds_open')).toBe(0)
  expect(await sample('holds_expired_total{category="write"}')).toBe(1)
})

it('metrics report refusals by shadowed limits and thresholds by their value', async () => {
  const { quota, sample } = measured()
  await quota.settings.update({ shadow: { personal: ['1h'] }, thresholds: [{ share: 0.57 }, { left: 20 }] })
  await quota.consume({ subject: 'u', operation: 'write', cost: 101 })
  const hour = 'layer="personal",window="1h",category="write"'
  expect(await sample(`shadowed_refusals_total{${hour}}`)).toBe(1)
  expect(await sample(`near_limit_total{${hour},threshold="57%"}`)).toBe(1)
  expect(await sample(`near_limit_total{${hour},threshold="20 left"}`)).toBe(1)
})
