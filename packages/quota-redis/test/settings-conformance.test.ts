import { memorySettings } from '@scoregw/quota'
import { describeSettingsStore, SETTINGS_STORE_CASES, type SettingsHarness } from '@scoregw/quota-testkit'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { redisBroadcast, redisSettings } from '../src/index.ts'
import { announced } from './support/announced-table.ts'
import { useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

/** Every key as it is, to be put back. */
type Dump = readonly (readonly [key: string, bytes: Buffer])[]

async function dumped(admin: Redis): Promise<Dump> {
  const keys = await admin.keys('*')
  return Promise.all(keys.map(async (key) => [key, (await admin.dumpBuffer(key))!] as const))
}

async function restored(admin: Redis, dump: Dump): Promise<void> {
  await admin.flushall()
  for (const [key, bytes] of dump) await admin.restore(key, 0, bytes)
}

describe.runIf(redisTests)('settings conformance on Redis', () => {
  const redis = useRedis()

  async function inRedis(): Promise<SettingsHarness> {
    await redis.admin.flushall()
    const open = () => redisSettings({ client: new Redis({ port: redis.port, lazyConnect: true }) })
    const [store, peer] = [open(), open()]
    let dump: Dump = []
    return {
      store,
      peer,
      capabilities: ['loss', 'backup'],
      loseData: async () => void (await redis.admin.flushall()),
      backup: async () => {
        dump = await dumped(redis.admin)
      },
      restore: () => restored(redis.admin, dump),
      stop: () => {
        store.close()
        peer.close()
      },
    }
  }

  /** As two processes with one SQL table, announced over Redis. */
  async function inTable(): Promise<SettingsHarness> {
    await redis.admin.flushall()
    const table = memorySettings()
    const dying = { next: false }
    const open = () => {
      const client = new Redis({ port: redis.port, lazyConnect: true })
      return announced(table, redisBroadcast({ client }), dying)
    }
    const [store, peer] = [open(), open()]
    return {
      store,
      peer,
      capabilities: ['announcer'],
      killAnnouncer: () => {
        dying.next = true
      },
      announced: async () => (await redis.admin.get('{quota}:settings')) ?? '',
      stop: async () => {
        await store.close?.()
        await peer.close?.()
      },
    }
  }

  const registered = [
    describeSettingsStore({ describe, it }, inRedis, 'in Redis'),
    describeSettingsStore({ describe, it }, inTable, 'in a table, announced over Redis'),
  ]

  it('the Redis settings pass the conformance suite', () =>
    expect(registered).toEqual([SETTINGS_STORE_CASES.length, SETTINGS_STORE_CASES.length]))
})
