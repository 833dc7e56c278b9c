import { createHash } from 'node:crypto'
import { createQuota } from '@scoregw/quota'
import { redisStore } from '@scoregw/quota-redis'
import { Ratelimit } from '@upstash/ratelimit'
import { MemoryStore, type Options } from 'express-rate-limit'
import { Redis } from 'ioredis'
import { type RedisReply, RedisStore } from 'rate-limit-redis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'

/** Resolves to whether a caller may continue. */
type Limiter = (user: string) => boolean | Promise<boolean>

/** Creates one limit, on a Redis at this port, or in memory. */
type Make = (port: number, limit: number) => Limiter

const HOUR_MS = 3_600_000
const HOUR_SECONDS = 3_600

/** One limit per hour in each library, by name. */
export const MEMORY: Readonly<Record<string, Make>> = {
  'a Map by hand': byHand,
  'quota: consumeSync': (_port, limit) => {
    const quota = createQuota({ limits: hourly(limit) })
    return (subject) => quota.consumeSync({ subject }).allowed
  },
  'quota: await consume': (_port, limit) => {
    const quota = createQuota({ limits: hourly(limit) })
    return async (subject) => (await quota.consume({ subject })).allowed
  },
  'rate-limiter-flexible': (_port, points) => flexible(new RateLimiterMemory({ points, duration: HOUR_SECONDS })),
  'express-rate-limit: its store': (_port, limit) => {
    const store = new MemoryStore()
    store.init({ windowMs: HOUR_MS } as Options)
    return async (user) => (await store.increment(user)).totalHits <= limit
  },
}

export const REDIS: Readonly<Record<string, Make>> = {
  'quota: await consume': (port, limit) => {
    const store = redisStore({ client: clientOf(port), deadlineMs: 1_000 })
    const quota = createQuota({ limits: hourly(limit), store })
    return async (subject) => (await quota.consume({ subject })).allowed
  },
  'rate-limiter-flexible': (port, points) =>
    flexible(new RateLimiterRedis({ storeClient: clientOf(port), points, duration: HOUR_SECONDS })),
  'rate-limit-redis': (port, limit) => {
    const client = clientOf(port)
    const sendCommand = (command: string, ...args: string[]): Promise<RedisReply> =>
      client.call(command, ...args) as Promise<RedisReply>
    const store = new RedisStore({ sendCommand })
    void store.init({ windowMs: HOUR_MS } as Parameters<RedisStore['init']>[0])
    return async (user) => (await store.increment(user)).totalHits <= limit
  },
  '@upstash/ratelimit: its script': (port, limit) => {
    const limiter = new Ratelimit({
      redis: overTcp(clientOf(port)),
      limiter: Ratelimit.fixedWindow(limit, '1 h'),
      ephemeralCache: false,
    })
    return async (user) => (await limiter.limit(user)).success
  },
}

function hourly(limit: number) {
  return { hourly: { by: 'user', limit, per: '1h' } } as const
}

function clientOf(port: number): Redis {
  return new Redis({ port, enableAutoPipelining: true })
}

/**
 * Its own client speaks HTTP to a hosted Redis. Here the script runs on the same server as all others, through ioredis.
 * Its first line is removed: only Upstash's server knows that flag.
 */
export function overTcp(client: Redis): ConstructorParameters<typeof Ratelimit>[0]['redis'] {
  const loaded = new Map<string, string>()
  const calls = {
    async evalsha(hash: string, keys: string[], args: string[]) {
      const own = loaded.get(hash)
      if (own === undefined) throw new Error('NOSCRIPT')
      return client.evalsha(own, keys.length, ...keys, ...args)
    },
    async eval(script: string, keys: string[], args: string[]) {
      const own = script.replace(/^#!.*\n/, '')
      const result = await client.eval(own, keys.length, ...keys, ...args)
      loaded.set(sha1(script), sha1(own))
      return result
    },
  }
  return calls as unknown as ConstructorParameters<typeof Ratelimit>[0]['redis']
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}

/** Its refusals reject with the state of the limiter. */
function flexible(limiter: RateLimiterMemory | RateLimiterRedis): Limiter {
  return async (user) => {
    try {
      await limiter.consume(user)
      return true
    } catch (error) {
      if (error instanceof Error) throw error
      return false
    }
  }
}

/** The code one would write by hand for a single limit. */
function byHand(_port: number, limit: number): Limiter {
  const windows = new Map<string, { resetAt: number; used: number }>()
  return (user) => {
    const now = Date.now()
    const window = windows.get(user)
    if (window === undefined || window.resetAt <= now) {
      windows.set(user, { resetAt: now + HOUR_MS, used: 1 })
      return limit > 0
    }
    if (window.used >= limit) return false
    window.used++
    return true
  }
}
