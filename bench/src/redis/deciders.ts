import { createQuota, defaultPolicy, type LimitTable } from '@scoregw/quota'
import { MAX_LIMIT } from '@scoregw/quota/store'
import { redisStore } from '@scoregw/quota-redis'
import { Redis } from 'ioredis'
import { type RedisReply, RedisStore } from 'rate-limit-redis'
import { RateLimiterRedis, RateLimiterUnion } from 'rate-limiter-flexible'

/** Tokens a decision. */
const COST = 15
const WINDOWS_MS = [3_600_000, 18_000_000, 86_400_000]

/** Something that decides by Redis whether a user may go on; every one of them is to admit everybody. */
export interface RedisDecider {
  readonly name: string
  admit(user: string): Promise<boolean>
  stop(): void | Promise<void>
}

type Make = (client: Redis) => Omit<RedisDecider, 'name' | 'stop'> & { readonly stop?: () => void | Promise<void> }

const INCRBY = 'INCRBY of one counter'
export const OURS = 'quota: six counters'

const makers: Readonly<Record<string, Make>> = {
  [INCRBY]: (client) => ({ admit: async () => (await client.incrby('counter', COST)) > 0 }),
  [OURS]: ours,
  'rate-limiter-flexible: one limit': (client) => {
    const limiter = flexible(client, 'one', WINDOWS_MS[0] as number)
    return { admit: async (user) => (await limiter.consume(user, COST)).remainingPoints > 0 }
  },
  'rate-limiter-flexible: six limits, two unions': flexibleSix,
  'rate-limit-redis: six stores': expressSix,
}

/** All of them, the first the one to compare with; each on a connection of its own, with auto-pipelining. */
export function deciders(port: number): RedisDecider[] {
  return Object.entries(makers).map(([name, make]) => {
    const client = new Redis({ port, enableAutoPipelining: true })
    const { admit, stop } = make(client)
    return {
      name,
      admit,
      async stop() {
        await stop?.()
        client.disconnect()
      },
    }
  })
}

function ours(client: Redis): ReturnType<Make> {
  const windows = { '1h': MAX_LIMIT, '5h': MAX_LIMIT, '1d': MAX_LIMIT }
  const layer = { read: windows, write: windows }
  const base: LimitTable = { personal: layer, site: layer }
  const operations = { 'music.upsert': { category: 'write', cost: COST } } as const
  const store = redisStore({ client, prefix: 'q', deadlineMs: 1_000 })
  const quota = createQuota({ policy: defaultPolicy({ operations, base }), store })
  return {
    admit: async (subject) => {
      const { allowed, source } = await quota.consume({ subject, operation: 'music.upsert' })
      return allowed && source === 'store'
    },
    stop: () => quota.close(),
  }
}

function flexible(storeClient: Redis, layer: string, ms: number): RateLimiterRedis {
  return new RateLimiterRedis({ storeClient, keyPrefix: `${layer}${ms}`, points: 10 ** 11, duration: ms / 1000 })
}

function flexibleSix(client: Redis): ReturnType<Make> {
  const [personal, site] = ['personal', 'site'].map(
    (layer) => new RateLimiterUnion(...WINDOWS_MS.map((ms) => flexible(client, layer, ms))),
  ) as [RateLimiterUnion, RateLimiterUnion]
  return {
    admit: async (user) => {
      await Promise.all([personal.consume(user, COST), site.consume('site', COST)])
      return true
    },
  }
}

/** Its stores count requests, not tokens. */
function expressSix(client: Redis): ReturnType<Make> {
  const sendCommand = (command: string, ...args: string[]): Promise<RedisReply> =>
    client.call(command, ...args) as Promise<RedisReply>
  const stores = ['personal', 'site'].flatMap((layer) =>
    WINDOWS_MS.map((windowMs) => {
      const store = new RedisStore({ sendCommand, prefix: `${layer}${windowMs}:` })
      void store.init({ windowMs } as Parameters<RedisStore['init']>[0])
      return { store, shared: layer === 'site' }
    }),
  )
  return {
    admit: async (user) => {
      const counts = await Promise.all(stores.map(({ store, shared }) => store.increment(shared ? 'site' : user)))
      return counts.every(({ totalHits }) => totalHits < 10 ** 11)
    },
  }
}
