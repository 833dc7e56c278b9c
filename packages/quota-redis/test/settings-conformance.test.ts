import { memorySettings } from '@scoregw/quota'
import { describeSettingsStore, SETTINGS_STORE_CASES, type SettingsHarness } from '@scoregw/quota-testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redisBroadcast, redisSettings } from '../src/index.ts'
import { announced } from './support/announced-table.ts'
import { type RedisServer, redisTests, startRedis } from './support/redis-server.ts'

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

describe.runIf(redisTests)('settings, as every store has to keep them', () => {
  let redis: RedisServer
  let admin: Redis
  beforeAll(async () => {
    redis = await startRedis()
    admin = new Redis({ port: redis.port })
  })
  afterAll(async () => {
    admin.disconnect()
    await redis.stop()
  })

  async function inRedis(): Promise<SettingsHarness> {
    await admin.flushall()
    const open = () => redisSettings({ client: new Redis({ port: redis.port, lazyConnect: true }) })
    const [store, peer] = [open(), open()]
    let dump: Dump = []
    return {
      store,
      peer,
      capabilities: ['loss', 'backup'],
      loseData: async () => void (await admin.flushall()),
      backup: async () => {
        dump = await dumped(admin)
      },
      restore: () => restored(admin, dump),
      stop: () => {
        store.close()
        peer.close()
      },
    }
  }

  /** As two processes with one SQL table, announced over Redis. */
  async function inTable(): Promise<SettingsHarness> {
    await admin.flushall()
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
      announced: async () => (await admin.get('{quota}:settings')) ?? '',
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

  it('runs every case', () => expect(registered).toEqual([SETTINGS_STORE_CASES.length, SETTINGS_STORE_CASES.length]))
})
