import { redisSettings, redisStore } from '@scoregw/quota-redis'
import { leasedRedisStore } from '@scoregw/quota-redis/leases'
import { startRedis } from '@scoregw/redis-server'
import { Redis } from 'ioredis'
import { engineOf, type Place } from './place.ts'

/** A key, with its bytes in base64. Some versions of Redis and Valkey cannot read each other's dumps. */
interface StoredKey {
  readonly key: string
  readonly value:
    | { readonly string: string }
    | { readonly hash: readonly (readonly [field: string, value: string])[] }
    | { readonly zset: readonly (readonly [member: string, score: string])[] }
  /** When the key expires, in milliseconds from now; unset for never. */
  readonly ttlMs?: number
}

/** A Redis server with the counters of `redisStore` or `leasedRedisStore`, and the settings of `redisSettings`. */
export async function redisPlace(kind: 'redis' | 'leases'): Promise<Place> {
  const server = await startRedis()
  const admin = new Redis({ port: server.port, protocol: 2 })
  const closers: (() => Promise<void>)[] = []
  return {
    async open(policy, clock, process) {
      const client = new Redis({ port: server.port, lazyConnect: true })
      const options = { client, prefix: policy, deadlineMs: 1_000, testClock: clock }
      const store = kind === 'redis' ? redisStore(options) : leasedRedisStore(options)
      const settingsStore = redisSettings({ client, prefix: policy })
      const party = engineOf(policy, clock, process, { store, settingsStore })
      closers.push(async () => {
        await party.quota.close()
        settingsStore.close()
      })
      await store.ready()
      return party
    },
    async dump() {
      const keys = (await admin.keys('*')).sort()
      return Promise.all(keys.map((key) => read(admin, key)))
    },
    async load(stored) {
      for (const each of stored as readonly StoredKey[]) await write(admin, each)
    },
    async close() {
      await Promise.all(closers.map((close) => close()))
      admin.disconnect()
      await server.stop()
    },
  }
}

async function read(admin: Redis, key: string): Promise<StoredKey> {
  const ttlMs = await admin.pttl(key)
  const kept = { key, value: await storedValue(admin, key) }
  // In whole minutes, so that two runs write the same.
  return ttlMs < 0 ? kept : { ...kept, ttlMs: Math.ceil(ttlMs / 60_000) * 60_000 }
}

async function storedValue(admin: Redis, key: string): Promise<StoredKey['value']> {
  const type = await admin.type(key)
  if (type === 'string') return { string: ((await admin.callBuffer('GET', key)) as Buffer).toString('base64') }
  if (type === 'hash') return { hash: pairs(await admin.callBuffer('HGETALL', key)) }
  if (type === 'zset') return { zset: pairs(await admin.callBuffer('ZRANGE', key, '0', '-1', 'WITHSCORES')) }
  throw new Error(`${key}: no way to keep a ${type} yet`)
}

function pairs(flat: unknown): [string, string][] {
  const texts = (flat as readonly Buffer[]).map((each) => each.toString('base64'))
  return texts.flatMap((text, index) => (index % 2 === 0 ? [[text, texts[index + 1] ?? '']] : []))
}

async function write(admin: Redis, { key, value, ttlMs }: StoredKey): Promise<void> {
  const bytes = (text: string) => Buffer.from(text, 'base64')
  if ('string' in value) await admin.set(key, bytes(value.string))
  else if ('hash' in value) await admin.hset(key, ...value.hash.flatMap(([field, of]) => [bytes(field), bytes(of)]))
  else await admin.zadd(key, ...value.zset.flatMap(([member, score]) => [bytes(score), bytes(member)]))
  if (ttlMs !== undefined) await admin.pexpire(key, ttlMs)
}
