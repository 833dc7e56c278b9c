import { createHash } from 'node:crypto'
import { Ratelimit } from '@upstash/ratelimit'
import type { Redis } from 'ioredis'
import { type RedisReply, RedisStore } from 'rate-limit-redis'
import type { Admit } from './decider.ts'

/** A store of express-rate-limit on Redis. It counts requests. */
export function expressStore(client: Redis, windowMs: number, prefix = 'rl:'): RedisStore {
  const sendCommand = (command: string, ...args: string[]): Promise<RedisReply> =>
    client.call(command, ...args) as Promise<RedisReply>
  const store = new RedisStore({ sendCommand, prefix })
  void store.init({ windowMs } as Parameters<RedisStore['init']>[0])
  return store
}

/**
 * `@upstash/ratelimit` with one limit per hour. Its own client speaks HTTP to a hosted Redis. Here its script runs on the
 * same server as all others, through ioredis, without its first line: only Upstash's server knows that flag.
 */
export function upstash(client: Redis, limit: number): Admit {
  const loaded = new Map<string, string>()
  const redis = {
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
  } as unknown as ConstructorParameters<typeof Ratelimit>[0]['redis']
  const limiter = new Ratelimit({ redis, limiter: Ratelimit.fixedWindow(limit, '1 h'), ephemeralCache: false })
  return async (user) => (await limiter.limit(user)).success
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}
