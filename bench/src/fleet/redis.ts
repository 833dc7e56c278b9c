import { redisStore } from '@scoregw/quota-redis'
import { startRedis } from '@scoregw/redis-server'
import { Redis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import type { Admit } from '../deciders/decider.ts'
import { flexibleOne, flexibleSix, type LimiterOptions } from '../deciders/flexible.ts'
import { expressStore, upstash } from '../deciders/peers.ts'
import { redisCpuUs } from '../redis/info.ts'
import type { Backend, Limiter } from './backend.ts'
import { FLEXIBLE, FLEXIBLE_SIX, limiterOf, MANY, OURS, OURS_SIX, oneLimit, ourLimiter, sixLimits } from './limits.ts'

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
    [FLEXIBLE]: on((client) => flexibleOne(flexibleOn(client), 1)),
    'rate-limit-redis: one limit': on((client) => {
      const store = expressStore(client, 3_600_000, 'rlr:')
      return async (user) => (await store.increment(user)).totalHits <= MANY
    }),
    '@upstash/ratelimit: its script, one limit': on((client) => upstash(client, MANY)),
    [OURS_SIX]: ours('six', sixLimits),
    [FLEXIBLE_SIX]: on((client) => flexibleSix(flexibleOn(client), 1)),
  },
}

function on(make: (client: Redis) => Admit | Promise<Admit>): (address: string) => Limiter {
  return (address) => {
    const client = new Redis({ port: Number(address) })
    return limiterOf(make(client), () => client.disconnect())
  }
}

function ours(prefix: string, quotaOn: typeof oneLimit): (address: string) => Limiter {
  return (address) => {
    const client = new Redis({ port: Number(address) })
    return ourLimiter(quotaOn(redisStore({ client, prefix })), () => client.disconnect())
  }
}

function flexibleOn(storeClient: Redis): (options: LimiterOptions) => RateLimiterRedis {
  return (options) => new RateLimiterRedis({ storeClient, ...options })
}
