import { createQuota } from '@scoregw/quota'
import { type RedisServer, redisTests, startRedis } from '@scoregw/redis-server'
import { MultiRegionRatelimit, Ratelimit, type RatelimitConfig } from '@upstash/ratelimit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const LIMIT = 10

/** An hour, so that no window of theirs ends in the middle of a test, but once in hours. */
function ours() {
  return createQuota({ limits: { api: { by: 'user', limit: LIMIT, per: '1h' } } })
}

/** What their library asks of its client, over a connection to a server of our own. */
function overConnection(redis: Redis): RatelimitConfig['redis'] {
  const client = {
    get: (key: string) => redis.get(key),
    set: (key: string, value: string | number) => redis.set(key, value),
    // Its scripts begin with a flag that only its own servers know.
    eval: (script: string, keys: string[], args: unknown[]) =>
      redis.eval(script.replace(/^#!.*\n/, ''), keys.length, ...keys, ...args.map(String)),
    evalsha: () => Promise.reject(new Error('NOSCRIPT: sent whole')),
  }
  return client as unknown as RatelimitConfig['redis']
}

describe.runIf(redisTests)('the migration from @upstash/ratelimit', () => {
  let server: RedisServer
  let redis: Redis
  beforeAll(async () => {
    server = await startRedis()
    redis = new Redis(server.url)
  })
  afterAll(async () => {
    redis.disconnect()
    await server.stop()
  })

  const theirs = (prefix: string): Ratelimit => {
    const limiter = Ratelimit.fixedWindow(LIMIT, '1 h')
    return new Ratelimit({ redis: overConnection(redis), limiter, prefix, ephemeralCache: false, dynamicLimits: true })
  }

  it('@upstash/ratelimit and its replacement admit equal requests, with the page’s names', async () => {
    const [limiter, quota] = [theirs('same'), ours()]
    const admitted: [boolean, boolean][] = []
    for (const cost of [1, 4, 5, 1]) {
      const { success, limit, remaining, reset } = await limiter.limit('u', { rate: cost })
      const decision = await quota.consume({ subject: 'u', cost })
      const { api } = decision.limits
      admitted.push([success, decision.allowed])
      expect(api).toMatchObject({ limit, remaining })
      // Theirs end with the clock's hour, ours an hour after the first request.
      expect(api?.resetAt).toBeGreaterThanOrEqual(reset)
    }
    expect(admitted).toEqual([true, true, true, false].map((each) => [each, each]))
  })

  it('the replacement reports remaining tokens and resets used ones as @upstash/ratelimit does', async () => {
    const [limiter, quota] = [theirs('left'), ours()]
    await limiter.limit('u', { rate: 3 })
    await quota.consume({ subject: 'u', cost: 3 })
    const left = async () => [
      (await limiter.getRemaining('u')).remaining,
      (await quota.status('u')).limits.api?.remaining,
    ]
    expect(await left()).toEqual([7, 7])
    await limiter.resetUsedTokens('u')
    await quota.reset('u')
    expect(await left()).toEqual([10, 10])
  })

  it('@upstash/ratelimit has the other names of the table', () => {
    const { blockUntilReady, limit } = theirs('names')
    for (const each of [Ratelimit.slidingWindow, Ratelimit.tokenBucket, blockUntilReady, limit, MultiRegionRatelimit]) {
      expect(each).toBeTypeOf('function')
    }
    const named: (keyof RatelimitConfig)[] = ['prefix', 'timeout', 'ephemeralCache', 'analytics', 'dynamicLimits']
    expect(named).toHaveLength(5)
  })
})
