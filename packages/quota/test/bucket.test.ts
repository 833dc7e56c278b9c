import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { type Locale, neutralAnswers, quotaExceededBody, quotaHeaders, quotaStatusBody } from '../src/http.ts'
import { createQuota, definePolicy, memoryStore, type NearLimit, type QuotaStore, simpleQuota } from '../src/index.ts'
import { registerQuotaMetrics } from '../src/prometheus.ts'
import { scoreGatewayAnswers } from '../src/score-gateway.ts'
import { topSubjects } from '../src/top.ts'
import { asyncStore, type TestClock, testClock } from './support.ts'

/** 100 requests a minute, at most 20 together: one each 600 ms. */
function limiter(clock: TestClock) {
  const quota = simpleQuota({ limit: 100, per: '1m', burst: 20, clock })
  const consume = (cost = 1) => quota.consumeSync({ subject: 'u', cost })
  return { quota, consume }
}

function policyWith(burst: number | { readonly share: number }, limit = 100) {
  return definePolicy({
    windows: [{ label: '1m', burst }],
    categories: ['all'],
    layers: [{ name: 'user' }],
    operations: { go: { category: 'all', cost: 1 } },
    base: { user: { all: { '1m': limit } } },
    plans: { pro: { user: { all: { '1m': 1_000 } } }, tiny: { user: { all: { '1m': 3 } } } },
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
    expect(decision.windows[0]).toMatchObject({
      kind: 'bucket',
      limit: 100,
      burst: 20,
      lengthMs: 60_000,
      used: 17,
      remaining: 3,
      startedAt: clock.now() - 600,
      resetAt: clock.now() + 17 * 600,
    })
    expect(decision.binding).toMatchObject({ limit: 100, burst: 20, used: 17, resetAt: clock.now() + 1_200 })
    expect(quotaHeaders(decision, { standardHeaders: 'draft-11' })).toMatchObject({
      'Retry-After': '2',
      'RateLimit-Policy': '"personal-1m";q=100;w=60;burst=20',
      RateLimit: '"personal-1m";r=3;t=2',
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
    const body = quotaStatusBody(quota.statusSync('u')).windows.all?.[0]
    expect(body).toMatchObject({ limit: 100, burst: 20, used: 17, remaining: 3 })
  })

  it('the text of a limit of 0 doesn’t mention bursts', () => {
    const quota = createQuota({ policy: policyWith({ share: 0.2 }, 0), clock: testClock() })
    const decision = quota.consumeSync({ subject: 'u', operation: 'go' })
    if (decision.allowed) throw new Error('admitted')
    expect(quotaExceededBody(decision).msg).toBe('Limit reached: 0 requests per minute.')
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
      /^Reached user 1-Minute Quota Limit \(100, in bursts of 20\) for All requests\. You may/,
    )
    expect(english?.quota).toMatchObject({ limit: 100, burst: 20, used: 20, requested: 1 })
    expect(body('zh-CN', 1)?.msg).toMatch(/^已达到user 1 分钟全部配额上限（100，突发最多 20）。您可以在/)
    expect(body('en', 21)?.msg).toMatch(
      /^This request needs 21 tokens, more than the user 1-Minute Quota Limit of 20 in a burst/,
    )
    expect(body('zh-CN', 21)?.msg).toMatch(/超过user 1 分钟全部配额上限（单次突发 20），等待无法解决。/)
  })

  it('a bucket is full again at its reset, and a full one has null as its reset', () => {
    const clock = testClock()
    const { quota, consume } = limiter(clock)
    consume(7)
    clock.at += 7 * 600 - 1
    expect(quota.statusSync('u').windows.all?.[0]).toMatchObject({ used: 1, resetAt: clock.now() + 1 })
    clock.at += 1
    expect(quota.statusSync('u').windows.all?.[0]).toMatchObject({ used: 0, resetAt: null, startedAt: null })
  })

  it('a share as burst applies to the limit of each plan, mode and override', async () => {
    const quota = createQuota({ policy: policyWith({ share: 0.29 }), clock: testClock() })
    const burstOf = async (plan?: 'pro' | 'tiny') => {
      const [window] = (await quota.status('u', { plan })).windows.all ?? []
      return [window?.limit, window?.burst]
    }
    expect(await burstOf()).toEqual([100, 29])
    expect(await burstOf('pro')).toEqual([1_000, 290])
    expect(await burstOf('tiny')).toEqual([3, 1])
    await quota.settings.update({ mode: 'lenient' })
    expect(await burstOf()).toEqual([150, 43])
    await quota.subjects.update('u', { overrides: { all: { '1m': 'unlimited' } } })
    expect(await burstOf()).toEqual(['unlimited', 'unlimited'])
  })

  it('a fixed burst is at most the limit where that is lower', async () => {
    const quota = createQuota({ policy: policyWith(20), clock: testClock() })
    const [window] = (await quota.status('u', { plan: 'tiny' })).windows.all
    expect([window?.limit, window?.burst]).toEqual([3, 3])
  })

  it('a bucket keeps its content when its limit changes, and nobody waits longer than two windows', async () => {
    const clock = testClock()
    const quota = createQuota({ policy: policyWith(20), clock })
    const request = { subject: 'u', operation: 'go' } as const
    for (let i = 0; i < 20; i++) quota.consumeSync(request)
    await quota.subjects.update('u', { overrides: { all: { '1m': 1 } } })
    const refused = quota.consumeSync(request)
    expect(refused).toMatchObject({ allowed: false, retryAfterMs: 120_000 })
    clock.at += 120_000 - 1
    expect(quota.peekSync(request).allowed).toBe(false)
    clock.at += 1
    expect(quota.peekSync(request).allowed).toBe(true)
  })

  it('a bucket reports thresholds of its burst', () => {
    const quota = createQuota({ policy: policyWith(20), clock: testClock() })
    const near: NearLimit['window'][] = []
    quota.on('nearLimit', ({ window }) => near.push(window))
    for (let i = 0; i < 20; i++) quota.consumeSync({ subject: 'u', operation: 'go' })
    expect(near.map(({ used }) => used)).toEqual([16])
  })

  it('a bucket reports a threshold again after tokens came back, also when it was full meanwhile', () => {
    const clock = testClock()
    const quota = createQuota({ policy: policyWith(20), clock })
    const near: (readonly [threshold: object, used: number])[] = []
    quota.on('nearLimit', ({ window, threshold }) => near.push([threshold, window.used]))
    const spend = (cost: number) => quota.consumeSync({ subject: 'u', operation: 'go', cost })
    spend(18)
    clock.at += 4 * 600 // 14 are used
    spend(2)
    clock.at += 60_000 * 5 // full
    spend(15)
    spend(1)
    expect(near.map(([, used]) => used)).toEqual([18, 16, 16])
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
    expect(top.spent('all')).toEqual([{ subject: 'u', amount: 18, atLeast: 18 }])
    expect(top.refused('all')).toEqual([{ subject: 'u', amount: 1, atLeast: 1 }])
    const text = await registry.metrics()
    const limit = 'layer="user",window="1m",category="all"'
    for (const sample of [
      `window_decisions_total{${limit},outcome="admitted"} 2`,
      `window_decisions_total{${limit},outcome="refused"} 1`,
      `refusals_total{${limit}} 1`,
      `near_limit_total{${limit},threshold="80%"} 1`,
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
      binding: { used: 13 },
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
        failurePolicy: { all: { local: { expectedProcesses: 2 } } },
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
        message: expect.stringContaining('token buckets, such as "1m"'),
      }),
    )
  })
})

describe('an invalid burst', () => {
  const faults = (make: () => unknown): string => {
    try {
      make()
    } catch (error) {
      return String(error)
    }
    return ''
  }
  it.each([
    [
      () => simpleQuota({ limit: 100, per: '1m', burst: 101 }),
      'burst: at most the limit, 100; for a larger burst give a longer `per`',
    ],
    [() => policyWith(101), 'windows.0.burst: at most the limit, 100; for a larger burst give a longer `per`'],
    [() => policyWith(0), 'a whole number of tokens, 1 to the limit, or { share: 0.2 } of the limit'],
    [() => policyWith({ share: 0.123 }), 'a share of the limit from 0.01 to 1, with at most two decimals'],
    [() => policyWith({ share: 1.5 }), 'a share of the limit from 0.01 to 1'],
    [
      () => simpleQuota({ limit: 10, per: '1m', capacity: 5 } as never),
      'use `burst` for how many can be used together',
    ],
    [() => simpleQuota({ limit: 10, per: '1m', refillRate: 5 } as never), '`limit` come back per `per`'],
  ])('invalid burst %#: the policy is rejected with a reason', (make, message) => {
    expect(faults(make)).toContain(message)
  })

  it('a policy with another library’s name for a burst gets the right name in the error', () => {
    const window = { label: '1m', burst: 5, maxTokens: 20, refillRate: 1, interval: 1 }
    const policy = { ...policyWith(5), windows: [window] }
    expect(faults(() => definePolicy(policy as never))).toMatch(
      /use `burst` for how many[\s\S]*refills its whole limit, evenly/,
    )
  })
})
