import { createQuota } from '@scoregw/quota'
import { waitingQueue } from '@scoregw/quota/waiting'
import { redisStore } from '@scoregw/quota-redis'
import { redisRestStore } from '@scoregw/quota-redis/rest'
import { expect } from 'vitest'
import { downStore, one, rowsOf, testClock } from './rows.ts'

const HTTP = { url: 'https://db.example', token: 'token' }

rowsOf('@upstash/ratelimit', {
  "Ratelimit.fixedWindow(10, '10 s')"() {
    const clock = testClock()
    const quota = createQuota({ limits: { api: { by: 'user', limit: 10, per: '10s' } }, clock })
    expect(quota.consumeSync({ subject: 'u', cost: 10 }).allowed).toBe(true)
    expect(quota.consumeSync({ subject: 'u' })).toMatchObject({ allowed: false, retryAfterMs: 10_000 })
    clock.advance(10_000)
    expect(quota.consumeSync({ subject: 'u', cost: 10 }).allowed).toBe(true)
  },
  "Ratelimit.slidingWindow(100, '1 m')"() {
    const clock = testClock()
    const quota = createQuota({ limits: { api: { by: 'user', limit: 80, per: '1m', burst: 20 } }, clock })
    let admitted = 0
    for (let second = 0; second <= 60; second++) {
      while (quota.consumeSync({ subject: 'u' }).allowed) admitted++
      clock.advance(1_000)
    }
    // Never more than a hundred in any minute.
    expect(admitted).toBe(100)
  },
  "Ratelimit.tokenBucket(5, '10 s', 10)"() {
    const clock = testClock()
    const quota = createQuota({ limits: { api: { by: 'user', limit: 30, per: '1m', burst: 10 } }, clock })
    expect(quota.consumeSync({ subject: 'u', cost: 10 }).allowed).toBe(true)
    clock.advance(10_000)
    expect(quota.consumeSync({ subject: 'u', cost: 6 }).allowed).toBe(false)
    expect(quota.consumeSync({ subject: 'u', cost: 5 }).allowed).toBe(true)
  },
  async 'limit(identifier)'() {
    expect((await one(1).consume({ subject: 'u' })).allowed).toBe(true)
  },
  async 'limit(identifier, { rate })'() {
    expect((await one(3).consume({ subject: 'u', cost: 4 })).allowed).toBe(false)
  },
  async 'success, limit, remaining, reset'() {
    const { allowed, limits, now } = await one(3).consume({ subject: 'u' })
    expect(allowed).toBe(true)
    expect(limits.api).toMatchObject({ limit: 3, remaining: 2, resetAt: now + 900_000 })
  },
  async pending() {
    expect(await one(3).consume({ subject: 'u' })).not.toHaveProperty('pending')
  },
  async 'getRemaining(identifier)'() {
    const quota = one(3)
    expect((await quota.status('u')).limits.api?.remaining).toBe(3)
    // What would remain of it.
    expect((await quota.peek({ subject: 'u' })).allowed).toBe(true)
    expect((await quota.status('u')).limits.api?.used).toBe(0)
  },
  async 'resetUsedTokens(identifier)'() {
    const quota = one(1)
    await quota.consume({ subject: 'u' })
    await quota.reset('u')
    expect((await quota.consume({ subject: 'u' })).allowed).toBe(true)
  },
  async 'Redis of @upstash/redis'() {
    const store = redisRestStore(HTTP)
    expect(store).toMatchObject({ sync: false, settings: { sync: false } })
  },
  async 'blockUntilReady(identifier, ms)'() {
    const queue = waitingQueue(createQuota({ limits: { api: { by: 'user', limit: 1, per: '250ms' } } }))
    await queue.run({ subject: 'u' }, () => undefined)
    expect((await queue.run({ subject: 'u', maxWaitMs: 60_000 }, () => 'ready')).allowed).toBe(true)
    queue.close()
  },
  async 'timeout, after which a request passes'() {
    const limits = { api: { by: 'user', limit: 1, per: '15m' } } as const
    const quota = createQuota({ limits, store: downStore(), failurePolicy: { request: 'open' }, logger: false })
    expect(await quota.consume({ subject: 'u' })).toMatchObject({ allowed: true, source: 'fallback' })
    await quota.close()
  },
  prefix() {
    for (const store of [redisRestStore, redisStore]) expect(store).toBeTypeOf('function')
    expect(() => redisRestStore({ ...HTTP, prefix: 'my{app}' })).toThrow(/prefix/)
  },
  async ephemeralCache() {
    const quota = one(1)
    for (let i = 0; i < 50; i++) await quota.consume({ subject: 'u' })
    expect((await quota.status('u')).limits.api?.used).toBe(1)
  },
  async analytics() {
    const quota = one(1)
    const heard: string[] = []
    quota.on('admitted', ({ operation }) => void heard.push(`admitted ${operation}`))
    quota.on('refused', ({ refusedBy }) => void heard.push(`refused ${refusedBy.name}`))
    for (let i = 0; i < 2; i++) await quota.consume({ subject: 'u' })
    expect(heard).toEqual(['admitted request', 'refused api'])
  },
  async dynamicLimits() {
    const quota = one(1)
    await quota.settings.update({ limits: { api: 2 } })
    await quota.subjects.set('vip', { limits: { api: 3 } })
    expect((await quota.status('u')).limits.api?.limit).toBe(2)
    expect((await quota.status('vip')).limits.api?.limit).toBe(3)
  },
  async MultiRegionRatelimit() {
    // A share of the limit for each of two regions.
    const regions = [one(5), one(5)]
    const admitted = await Promise.all(
      regions.map(async (quota) => (await quota.consume({ subject: 'u', cost: 5 })).allowed),
    )
    expect(admitted).toEqual([true, true])
  },
})
