import { postgresTests } from '@scoregw/postgres-server'
import { initialSettings } from '@scoregw/quota/internal'
import { systemClock } from '@scoregw/quota/store'
import { type RedisServer, redisTests } from '@scoregw/redis-server'
import { ownTime, slowTests, withinOwnTime } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { openPostgres } from '../src/db/postgres.ts'
import type { Db } from '../src/db/schema.ts'
import { limitsIn } from '../src/quota/names.ts'
import { policy } from '../src/quota/policy.ts'
import { settingsOn } from '../src/quota/settings.ts'
import { ADMIN_TOKEN, ENTRY, type TestGateway, testGateway } from './support/gateway.ts'
import { testDatabase } from './support/postgres.ts'
import { redisServer } from './support/redis.ts'
import { backUpSettings } from './support/settings-backup.ts'
import { closedInTheEnd } from './support/test-database.ts'

const SETTINGS = '/admin/quota/settings'
/** Within so many milliseconds every process follows the stored settings. */
const FOLLOWED_MS = 1_000

interface Pair {
  readonly redis: RedisServer
  readonly db: Db
  readonly gateways: readonly [TestGateway, TestGateway]
}

/** Two gateways on one database and one Redis, and a connection to the database that is nobody's. */
async function pair(): Promise<Pair> {
  const [{ url }, redis] = await Promise.all([testDatabase(), redisServer()])
  const env = { DATABASE_URL: url, REDIS_URL: redis.url }
  const gateways = [await testGateway({ env }), await testGateway({ env })] as const
  return { redis, db: await closedInTheEnd(openPostgres(url)), gateways }
}

let plays = 0
/** Whether a write is admitted: it costs 15. */
async function isAdmitted({ send }: TestGateway, triesLeft = 3): Promise<boolean> {
  plays++
  const { status } = await send('POST', '/v1/music/upsert', { body: { musicList: [{ ...ENTRY, dxScore: plays }] } })
  // A busy machine misses a deadline now and then.
  if (status === 503 && triesLeft > 0) return isAdmitted({ send } as TestGateway, triesLeft - 1)
  expect([200, 429]).toContain(status)
  return status === 200
}

/** Sets how many tokens a user's writes have; those of the site have more than a fast machine can use up while it waits. */
async function setLimit({ send }: TestGateway, limit: number): Promise<void> {
  const { version: _, ...document } = (await send('GET', SETTINGS, { token: ADMIN_TOKEN })).body
  const write = { '1h': limit, '5h': limit, '1d': limit }
  const site = { ...document.base.site, write: { '1h': 1_000_000, '5h': 1_000_000, '1d': 1_000_000 } }
  const base = { ...document.base, personal: { ...document.base.personal, write }, site }
  const options = { token: ADMIN_TOKEN, headers: { 'If-Match': '*' }, body: { ...document, base } }
  // A busy machine misses a deadline now and then.
  await withinOwnTime(FOLLOWED_MS, async () => expect((await send('PUT', SETTINGS, options)).status).toBe(200))
}

const tagOf = async ({ send }: TestGateway): Promise<string | null> =>
  (await send('GET', SETTINGS, { token: ADMIN_TOKEN })).headers.get('ETag')

/** Asks both, again and again, until both answer so; and they answer so ever after. */
async function bothAdmit({ gateways }: Pair, wanted: boolean, since: number): Promise<void> {
  for (const gateway of gateways) {
    do {
      expect(ownTime() - since).toBeLessThan(FOLLOWED_MS)
    } while ((await isAdmitted(gateway)) !== wanted)
  }
  for (let round = 0; round < 4; round++) {
    for (const gateway of gateways) expect(await isAdmitted(gateway)).toBe(wanted)
  }
}

const announcedIn = ({ redis }: Pair): Promise<unknown> => redis.cli('GET', '{gateway}:settings')

describe.runIf(redisTests && postgresTests && slowTests)('lost settings of two gateways', () => {
  it('settings lost by Redis are announced again, and later changes apply', async () => {
    const both = await pair()
    const [here, there] = both.gateways
    await setLimit(here, 14)
    await bothAdmit(both, false, ownTime())
    for (const lose of [['FLUSHALL'], ['SET', '{gateway}:settings', 'Z'.repeat(22)], ['DEL', '{gateway}:settings']]) {
      await both.redis.cli(...lose)
      await bothAdmit(both, false, ownTime())
      expect(await tagOf(here)).toContain(String(await announcedIn(both)))
      await setLimit(there, 100_000)
      expect(await isAdmitted(there)).toBe(true)
      await bothAdmit(both, true, ownTime())
      await setLimit(here, 14)
      expect(await isAdmitted(here)).toBe(false)
      await bothAdmit(both, false, ownTime())
    }
  })

  it('settings restored from an older backup apply, and an older version can’t be written over them', async () => {
    const both = await pair()
    const [here, there] = both.gateways
    const nothing = await backUpSettings(both.db)
    await setLimit(here, 14)
    const blocked = await backUpSettings(both.db)
    await setLimit(here, 100_000)
    const oldTag = (await tagOf(there)) ?? ''
    await bothAdmit(both, true, ownTime())

    await blocked()
    await bothAdmit(both, false, ownTime())
    expect(await tagOf(there)).toContain(String(await announcedIn(both)))
    // The same version again: a tab from before the backup was restored gets a 412.
    await setLimit(there, 13)
    const { version: _, ...document } = (await here.send('GET', SETTINGS, { token: ADMIN_TOKEN })).body
    const options = { token: ADMIN_TOKEN, headers: { 'If-Match': oldTag }, body: document }
    expect([await tagOf(here), oldTag].map((tag) => tag?.slice(0, 3))).toEqual(['"2-', '"2-'])
    expect((await here.send('PUT', SETTINGS, options)).status).toBe(412)

    // Back to when nobody had set anything: writes have the policy's 60 tokens, and more were used.
    await setLimit(here, 100_000)
    await bothAdmit(both, true, ownTime())
    await nothing()
    await bothAdmit(both, false, ownTime())
    expect((await here.send('GET', '/me/quota')).body.windows.write[0].limit).toBe(60)
    expect(await announcedIn(both)).toBe('')
  })

  it('settings stored by a process that died before announcing them apply', async () => {
    const both = await pair()
    // More than the policy has, so that an admission shows which limit decided it.
    await setLimit(both.gateways[0], 100_000)
    await bothAdmit(both, true, ownTime())
    const dying = settingsOn(both.db, systemClock)
    for (const limit of [14, 100_000, 14]) {
      const { version: _, revision: __, ...settings } = initialSettings(policy)
      const writes = Object.fromEntries(limitsIn('personal', 'write').map((name) => [name, limit]))
      const limits = { ...settings.limits, ...writes }
      await dying.write({ ...settings, limits, shared: { site: { enabled: false, multiplier: 1 } } }, {})
      await bothAdmit(both, limit > 14, ownTime())
      expect(await tagOf(both.gateways[0])).toContain(String(await announcedIn(both)))
    }
    await dying.writeSubject('personal', 'demo', { limits: { 'personal-write-1h': 123 }, bypass: {} }, {})
    const limit = async (): Promise<number> =>
      (await both.gateways[1].send('GET', '/me/quota')).body.windows.write[0].limit
    await withinOwnTime(FOLLOWED_MS, async () => expect(await limit()).toBe(123))
  })
})
