import { redisStore } from '@scoregw/quota-redis'
import { startRedis } from '@scoregw/redis-server'
import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from 'ioredis'
import { type RedisReply, RedisStore } from 'rate-limit-redis'
import { RateLimiterRedis, RateLimiterUnion } from 'rate-limiter-flexible'
import { redisCpuUs } from '../redis/info.ts'
import { overTcp } from '../single/limiters.ts'
import type { Backend, Limiter } from './backend.ts'
import {
  type Admit,
  FLEXIBLE,
  FLEXIBLE_SIX,
  HOUR_SECONDS,
  HOURS,
  MANY,
  OURS,
  OURS_SIX,
  type OurQuota,
  oneLimit,
  sixLimits,
} from './limits.ts'

const FLOOR = 'INCRBY of one counter'

export const redis: Backend = {
  goals: [
    { name: 'Node for one limit, of rate-limiter-flexible', most: 1.4, of: [OURS, FLEXIBLE], cost: 'node' },
    {
      name: 'Node for six limits, of two unions of rate-limiter-flexible',
      most: 1,
      of: [OURS_SIX, FLEXIBLE_SIX],
      cost: 'node',
    },
    {
      name: 'server for six limits, of two unions of rate-limiter-flexible',
      most: 1,
      of: [OURS_SIX, FLEXIBLE_SIX],
      cost: 'server',
    },
  ],
  async start() {
    const server = await startRedis()
    const admin = new Redis({ port: server.port })
    return {
      address: String(server.port),
      cpuUs: () => redisCpuUs(admin),
      async stop() {
        admin.disconnect()
        await server.stop()
      },
    }
  },
  limiters: {
    [FLOOR]: on((client) => async (user) => (await client.incrby(user, 1)) > 0),
    [OURS]: ours('one', oneLimit),
    [FLEXIBLE]: on((client) => {
      const limiter = flexible(client, 'one', 1)
      return async (user) => (await limiter.consume(user)).remainingPoints > 0
    }),
    'rate-limit-redis: one limit': on((client) => {
      const sendCommand = (command: string, ...args: string[]): Promise<RedisReply> =>
        client.call(command, ...args) as Promise<RedisReply>
      const store = new RedisStore({ sendCommand, prefix: 'rlr:' })
      void store.init({ windowMs: HOUR_SECONDS * 1_000 } as Parameters<RedisStore['init']>[0])
      return async (user) => (await store.increment(user)).totalHits <= MANY
    }),
    '@upstash/ratelimit: its script, one limit': on((client) => {
      const limiter = Ratelimit.fixedWindow(MANY, '1 h')
      const limit = new Ratelimit({ redis: overTcp(client), limiter, ephemeralCache: false })
      return async (user) => (await limit.limit(user)).success
    }),
    [OURS_SIX]: ours('six', sixLimits),
    [FLEXIBLE_SIX]: on((client) => {
      const [own, all] = ['own', 'all'].map(
        (layer) => new RateLimiterUnion(...HOURS.map((hours) => flexible(client, `${layer}${hours}`, hours))),
      ) as [RateLimiterUnion, RateLimiterUnion]
      return async (user) => {
        await Promise.all([own.consume(user), all.consume('all')])
        return true
      }
    }),
  },
}

function on(make: (client: Redis) => Admit): (address: string) => Limiter {
  return (address) => {
    const client = new Redis({ port: Number(address) })
    return limiterOf(client, make(client))
  }
}

function ours(prefix: string, quotaOn: typeof oneLimit): (address: string) => Limiter {
  return (address) => {
    const client = new Redis({ port: Number(address) })
    const quota = quotaOn(redisStore({ client, prefix }))
    return limiterOf(client, quota.admit, quota)
  }
}

function limiterOf(client: Redis, admit: Admit, engine?: OurQuota): Limiter {
  return {
    async decide(user) {
      if (!(await admit(user))) throw new Error('an unexpected refusal')
    },
    async close() {
      await engine?.close()
      client.disconnect()
    },
  }
}

function flexible(storeClient: Redis, keyPrefix: string, hours: number): RateLimiterRedis {
  return new RateLimiterRedis({ storeClient, keyPrefix, points: MANY, duration: hours * HOUR_SECONDS })
}
