import { createQuota } from '@scoregw/quota'
import { redisStore } from '@scoregw/quota-redis'
import { MemoryStore, type Options } from 'express-rate-limit'
import { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { expressStore, upstash } from '../deciders/peers.ts'

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
    const store = expressStore(clientOf(port), HOUR_MS)
    return async (user) => (await store.increment(user)).totalHits <= limit
  },
  '@upstash/ratelimit: its script': (port, limit) => upstash(clientOf(port), limit),
}

function hourly(limit: number) {
  return { hourly: { by: 'user', limit, per: '1h' } } as const
}

function clientOf(port: number): Redis {
  return new Redis({ port, enableAutoPipelining: true })
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
