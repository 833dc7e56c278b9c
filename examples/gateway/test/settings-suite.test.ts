import { postgresTests, sharedPostgres } from '@scoregw/postgres-server'
import { systemClock } from '@scoregw/quota/store'
import { redisBroadcast } from '@scoregw/quota-redis'
import type { SqlSettings } from '@scoregw/quota-sql'
import { describeSettingsStore, type SettingsHarness } from '@scoregw/quota-testkit'
import { type RedisServer, redisTests, startRedis } from '@scoregw/redis-server'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../src/db/postgres.ts'
import type { Db } from '../src/db/schema.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import { createLogger } from '../src/log/logger.ts'
import { BroadcastSettings, settingsOn } from '../src/quota/settings.ts'
import { tempDir } from './support/gateway.ts'
import { backUpSettings, loseSettings } from './support/settings-backup.ts'

const CASES = 20
const isDeep = process.env.QUOTA_TEST_DEEP === '1'

/** A database without settings, as two processes see it, and the end of it. */
type OpenBoth = () => Promise<{ readonly dbs: readonly [Db, Db]; close(): Promise<void> }>

/** Of the embedded database one connection: two would wait for each other on the only thread. */
const embedded: OpenBoth = async () => {
  const db = await openSqlite(tempDir())
  return { dbs: [db, db], close: () => db.destroy() }
}

async function onDatabase(openBoth: OpenBoth): Promise<SettingsHarness> {
  const { dbs, close } = await openBoth()
  const [db, other] = dbs
  const [store, peer] = [settingsOn(db, systemClock), settingsOn(other, systemClock)]
  let restore = async (): Promise<void> => undefined
  return {
    store,
    peer,
    capabilities: ['loss', 'backup'],
    loseData: () => loseSettings(db),
    backup: async () => {
      restore = await backUpSettings(db)
    },
    restore: () => restore(),
    async stop() {
      await Promise.all([store.close(), peer.close()])
      await close()
    },
  }
}

async function onRedis(openBoth: OpenBoth, redis: RedisServer): Promise<SettingsHarness> {
  const { loseData, stop, store: stored, peer: other, ...rest } = await onDatabase(openBoth)
  const prefix = `suite-${Math.random().toString(36).slice(2)}`
  const logger = createLogger('silent')
  let isDying = false
  const announced = (of: SqlSettings): BroadcastSettings => {
    const broadcast = redisBroadcast({ client: new Redis(redis.url, { lazyConnect: true }), prefix })
    const announce: typeof broadcast.announce = async (revision, change) => {
      // A process that is dying says nothing any more.
      if (!isDying) await broadcast.announce(revision, change)
      isDying = false
    }
    return new BroadcastSettings(of, { ...broadcast, announce }, logger)
  }
  const [store, peer] = [announced(stored as SqlSettings), announced(other as SqlSettings)]
  return {
    ...rest,
    store,
    peer,
    capabilities: ['loss', 'backup', 'announcer'],
    killAnnouncer: () => {
      isDying = true
    },
    announced: async () => String((await redis.cli('GET', `{${prefix}}:settings`)) ?? ''),
    async loseData() {
      await loseData?.()
      await redis.cli('FLUSHALL')
    },
    async stop() {
      await Promise.all([store.close(), peer.close()])
      await stop()
    },
  }
}

describe('the settings suite on the gateway’s stores', () => {
  const runner = { describe, it: (name: string, run: () => Promise<void>) => it(name, run) }
  let redis: RedisServer | undefined
  let dbs: readonly [Db, Db] | undefined
  let drop: (() => Promise<void>) | undefined
  beforeAll(async () => {
    redis = redisTests ? await startRedis() : undefined
    if (!postgresTests) return
    const server = await sharedPostgres()
    const url = await server.createDatabase()
    drop = () => server.dropDatabase(url)
    dbs = [await openPostgres(url), await openPostgres(url)]
  })
  afterAll(async () => {
    for (const db of dbs ?? []) await db.destroy()
    await Promise.all([redis?.stop(), drop?.()])
  })
  /** One after the other, so that they can be in one database. */
  const onPostgres: OpenBoth = async () => {
    await loseSettings(dbs![0])
    return { dbs: dbs!, close: () => Promise.resolve() }
  }

  const counts = [describeSettingsStore(runner, () => onDatabase(embedded), 'the embedded database')]
  const openBoth = postgresTests ? onPostgres : embedded
  if (redisTests) counts.push(describeSettingsStore(runner, () => onRedis(openBoth, redis!), 'with Redis'))
  if (isDeep && postgresTests) counts.push(describeSettingsStore(runner, () => onDatabase(onPostgres), 'PostgreSQL'))

  it('the settings suite runs every case on each store', () => {
    for (const count of counts) expect(count).toBeGreaterThanOrEqual(CASES)
  })
})
