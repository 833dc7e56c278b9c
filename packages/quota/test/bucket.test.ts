import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { type Locale, neutralAnswers, quotaExceededBody, quotaHeaders, quotaStatusBody } from '../src/http.ts'
import { createQuota, definePolicy, memoryStore } from '../src/index.ts'
import { registerQuotaMetrics } from '../src/prometheus.ts'
import { scoreGatewayAnswers } from '../src/score-gateway.ts'
import type { QuotaStore } from '../src/store.ts'
import { topSubjects } from '../src/top.ts'
import { asyncStore, type TestClock, testClock } from './support.ts'

/** 100 requests a minute, at most 20 together: one each 600 ms. */
function limiter(clock: TestClock) {
  const quota = createQuota({ policy: policyWith(20), clock })
  const consume = (cost = 1) => quota.consumeSync({ subject: 'u', cost })
  return { quota, consume }
}

function policyWith(burst: number | { readonly share: number }, limit = 100) {
  return definePolicy({
    unit: 'tokens',
    limits: { calls: { by: 'user', limit, per: '1m', burst } },
    operations: { go: { cost: 1 } },
    plans: { pro: { calls: 1_000 }, tiny: { calls: 3 } },
  })
}

describe('a window with a burst', () => {
  it('a bucket admits its burst, then as much as has come back', () => {
    const clock = testClock()
    const { consume } = limiter(clock)
    for (let i = 0; i < 20; i++) expect(consume().allowed).toBe(true)
    const refused = consume()
    expect(refused).toMatchObject({ allowed: false, retryAfterMs: 600, retryable: true })
    let admitted = 0
    for (let ms = 0; ms < 600_000; ms += 7) {
      clock.at += 7
      if (consume().allowed) admitted++
    }
    expect(admitted).toBe(1_000)
  })

  it('decisions, bodies, fields and texts describe a bucket', () => {
    const clock = testClock()
    const { quota, consume } = limiter(clock)
    consume(18)
    clock.at += 600
    const decision = quota.consumeSync({ subject: 'u', cost: 5 })
    if (decision.allowed) throw new Error('admitted')
    expect(decision.limits.calls).toMatchObject({
      kind: 'bucket',
      limit: 100,
      burst: 20,
      lengthMs: 60_000,
      used: 17,
      remaining: 3,
      startedAt: clock.now() - 600,
      resetAt: clock.now() + 17 * 600,
    })
    expect(decision.refusedBy).toMatchObject({ limit: 100, burst: 20, used: 17, resetAt: clock.now() + 1_200 })
    expect(quotaHeaders(decision, { standardHeaders: 'draft-11' })).toMatchObject({
      'Retry-After': '2',
      'RateLimit-Policy': '"calls";q=100;qu="tokens";w=60;burst=20',
      RateLimit: '"calls";r=3;t=2',
    })
    expect(quotaExceededBody(decision)).toMatchObject({
      msg: 'Limit reached: 100 tokens per minute, in bursts of 20. Try again in 2 seconds.',
      quota: { limit: 100, burst: 20, used: 17, requested: 5 },
    })
    expect(quotaExceededBody(decision, { locale: 'zh-CN' }).msg).toBe(
      '已达上限：每分钟 100 个 token，突发最多 20 个。请在 2 秒后重试。',
    )
    const never = quota.consumeSync({ subject: 'u', cost: 21 })
    expect(never).toMatchObject({ allowed: false, retryable: false })
    if (!never.allowed)
      expect(neutralAnswers()(never, { locale: 'en', policy: quota.policy }).msg).toBe(
        'This request needs 21 tokens, more than the limit of 20 in a burst (100 per minute).',
      )
    const body = quotaStatusBody(quota.statusSync('u')).limits.calls
    expect(body).toMatchObject({ limit: 100, burst: 20, used: 17, remaining: 3 })
  })

  it('the text of a limit of 0 doesn’t mention bursts', () => {
    const quota = createQuota({ policy: policyWith({ share: 0.2 }, 0), clock: testClock() })
    const decision = quota.consumeSync({ subject: 'u', operation: 'go' })
    if (decision.allowed) throw new Error('admitted')
    expect(quotaExceededBody(decision).msg).toBe('This request needs 1 token, more than the limit of 0 per minute.')
  })

  it('responses of the score gateway describe a bucket', () => {
    const answers = scoreGatewayAnswers()
    const quota = createQuota({ policy: { ...policyWith(20), answers }, clock: testClock() })
    const body = (locale: Locale, cost: number) => {
      const decision = quota.consumeSync({ subject: 'u', operation: 'go', cost })
      return decision.allowed ? undefined : quotaExceededBody(decision, { locale })
    }
    expect(body('en', 20)).toBeUndefined()
    const english = body('en', 1)
    expect(english?.msg).toMatch(
      /^Reached user 1-Minute Quota Limit \(100, in bursts of 20\) for Go requests\. You may/,
    )
    expect(english?.quota).toMatchObject({ limit: 100, burst: 20, used: 20, requested: 1 })
    expect(body('zh-CN', 1)?.msg).toMatch(/^已达到user 1 分钟 go 配额上限（100，突发最多 20）。您可以在/)
    expect(body('en', 21)?.msg).toMatch(
      /^This request needs 21 tokens, more than the user 1-Minute Quota Limit of 20 in a burst/,
    )
    expect(body('zh-CN', 21)?.msg).toMatch(/超过user 1 分钟 go 配额上限（单次突发 20），等待无法解决。/)
  })

  it('a bucket is full again at its reset, and a full one has null as its reset', () => {
    const clock = testClock()
    const { quota, consume } = limiter(clock)
    consume(7)
    clock.at += 7 * 600 - 1
    expect(quota.statusSync('u').limits.calls).toMatchObject({ used: 1, resetAt: clock.now() + 1 })
    clock.at += 1
    expect(quota.statusSync('u').limits.calls).toMatchObject({ used: 0, resetAt: null, startedAt: null })
  })

  it('a share as burst applies to the limit of each plan, mode and override', async () => {
    const quota = createQuota({ policy: policyWith({ share: 0.29 }), clock: testClock() })
    const burstOf = async (plan?: 'pro' | 'tiny') => {
      const { calls } = (await quota.status('u', { plan })).limits
      return [calls?.limit, calls?.burst]
    }
    expect(await burstOf()).toEqual([100, 29])
    expect(await burstOf('pro')).toEqual([1_000, 290])
    expect(await burstOf('tiny')).toEqual([3, 1])
    await quota.settings.update({ mode: 'lenient' })
    expect(await burstOf()).toEqual([150, 43])
    await quota.subjects.update('u', { limits: { calls: 'unlimited' } })
    expect(await burstOf()).toEqual(['unlimited', 'unlimited'])
  })

  it('a fixed burst keeps its share of a plan’s number, and is at least 1', async () => {
    const quota = createQuota({ policy: policyWith(20), clock: testClock() })
    expect((await quota.status('u', { plan: 'pro' })).limits.calls).toMatchObject({ limit: 1_000, burst: 200 })
    expect((await quota.status('u', { plan: 'tiny' })).limits.calls).toMatchObject({ limit: 3, burst: 1 })
  })

  it('a bucket keeps its content when its limit changes, and nobody waits longer than two windows', async () => {
    const clock = testClock()
    const quota = createQuota({ policy: policyWith(20), clock })
    const request = { subject: 'u', operation: 'go' } as const
    for (let i = 0; i < 20; i++) quota.consumeSync(request)
    await quota.subjects.update('u', { limits: { calls: 1 } })
    const refused = quota.consumeSync(request)
    expect(refused).toMatchObject({ allowed: false, retryAfterMs: 120_000 })
    clock.at += 120_000 - 1
    expect(quota.peekSync(request).allowed).toBe(false)
    clock.at += 1
    expect(quota.peekSync(request).allowed).toBe(true)
  })

  it('a bucket reports thresholds of its burst', () => {
    const quota = createQuota({ policy: policyWith(20), clock: testClock() })
    const near: number[] = []
    quota.on('nearLimit', ({ limit }) => near.push(limit.used))
    for (let i = 0; i < 20; i++) quota.consumeSync({ subject: 'u', operation: 'go' })
    expect(near).toEqual([16])
  })

  it('a bucket reports a threshold again after tokens came back, also when it was full meanwhile', () => {
    const clock = testClock()
    const quota = createQuota({ policy: policyWith(20), clock })
    const near: number[] = []
    quota.on('nearLimit', ({ limit }) => near.push(limit.used))
    const spend = (cost: number) => quota.consumeSync({ subject: 'u', operation: 'go', cost })
    spend(18)
    clock.at += 4 * 600 // 14 are used
    spend(2)
    clock.at += 60_000 * 5 // full
    spend(15)
    spend(1)
    expect(near).toEqual([18, 16, 16])
  })

  it('metrics and top subjects include buckets as they do windows', async () => {
    const clock = testClock()
    const quota = createQuota({ policy: policyWith(20), clock })
    const registry = new Registry()
    registerQuotaMetrics({ quota, registry })
    const top = topSubjects({ quota, periodMs: 3_600_000, clock })
    const spend = (cost: number) => quota.consumeSync({ subject: 'u', operation: 'go', cost })
    spend(17)
    clock.at += 600
    spend(1)
    spend(9)
    expect(top.spent('go')).toEqual([{ subject: 'u', amount: 18, atLeast: 18 }])
    expect(top.refused('go')).toEqual([{ subject: 'u', amount: 1, atLeast: 1 }])
    const text = await registry.metrics()
    for (const sample of [
      'limit_decisions_total{limit="calls",outcome="admitted"} 2',
      'limit_decisions_total{limit="calls",outcome="refused"} 1',
      'refusals_total{limit="calls"} 1',
      'near_limit_total{limit="calls",threshold="80%"} 1',
    ])
      expect(text).toContain(`scoregw_quota_${sample}`)
  })

  it('a snapshot includes buckets', () => {
    const clock = testClock()
    const store = memoryStore({ clock })
    const consume = (of: QuotaStore) => {
      const quota = createQuota({ policy: policyWith(20), store: of as typeof store, clock })
      return quota.consumeSync({ subject: 'u', operation: 'go', cost: 15 })
    }
    consume(store)
    clock.at += 1_200
    const other = memoryStore({ clock })
    for (const part of JSON.parse(JSON.stringify([...store.snapshot()]))) other.restore(part)
    expect(consume(other)).toMatchObject({
      allowed: false,
      refusedBy: { used: 13 },
      retryAfterMs: 8 * 600 - 1_200 + 1_200,
    })
  })

  it('a bucket continues with a share per process while the store is away', async () => {
    const clock = testClock()
    const store = memoryStore({ clock })
    const line = { cut: false }
    const processes = [0, 1].map(() =>
      createQuota({
        policy: policyWith(20),
        store: asyncStore(store, () => (line.cut ? Promise.reject(new Error('cut off')) : Promise.resolve())),
        clock,
        failurePolicy: { go: { local: { expectedProcesses: 2 } } },
        logger: false,
      }),
    )
    const request = { subject: 'u', operation: 'go' } as const
    for (const quota of processes) await quota.consume({ ...request, cost: 4 })
    line.cut = true
    let admitted = 0
    for (let ms = 0; ms <= 240_000; ms += 300) {
      for (const quota of processes) {
        const decision = await quota.consume(request).catch(() => ({ allowed: false }))
        if (decision.allowed) admitted++
      }
      // What was left, and what came back: 100 a minute.
      expect(admitted).toBeLessThanOrEqual(12 + 4 + Math.floor((ms * 100) / 60_000))
      clock.at += 300
    }
    expect(admitted).toBeGreaterThan(400)
  })

  it('a store without buckets rejects the policy', () => {
    const { can, ...store } = memoryStore()
    const plain = { ...store, sync: true, open: memoryStore().open, can: { ...can, bucket: undefined } } as QuotaStore
    expect(() => createQuota({ policy: policyWith(20), store: plain })).toThrow(
      expect.objectContaining({
        code: 'store_unsupported',
        message: expect.stringContaining('token buckets, such as "calls"'),
      }),
    )
  })
})
