import { redisTests } from '@scoregw/redis-server'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../src/config/config.ts'
import { checkConfigured } from '../src/quota/policy.ts'
import { ADMIN_TOKEN, type Answer, ENTRY, HOUR_MS, START, type TestGateway, testGateway } from './support/gateway.ts'
import { redisServer } from './support/redis.ts'
import { sourceGateway } from './support/source-gateway.ts'
import { held, lxScores } from './support/source-server.ts'

const SETTINGS = '/admin/quota/settings'
const QUOTA = '/admin/users/demo/quota'

const admin =
  ({ send }: Pick<TestGateway, 'send'>) =>
  (method: string, path: string, body?: unknown): Promise<Answer> =>
    send(method, path, {
      token: ADMIN_TOKEN,
      headers: { 'If-Match': '*' },
      ...(body === undefined ? {} : { body }),
    })

/** Stores the settings with some members changed. */
async function change(gateway: TestGateway, members: object): Promise<Answer> {
  const call = admin(gateway)
  const { version: _, ...settings } = (await call('GET', SETTINGS)).body
  return call('PUT', SETTINGS, { ...settings, ...members })
}

const upsert = ({ send }: TestGateway, dxScore: number): Promise<Answer> =>
  send('POST', '/v1/music/upsert', { body: { musicList: [{ ...ENTRY, dxScore }] } })

type Window = Record<string, unknown>
const windowsOf = async (gateway: TestGateway, path: string, category = 'write'): Promise<Window[]> =>
  (await admin(gateway)('GET', path)).body.windows[category]

const trailOf = async (gateway: TestGateway): Promise<Record<string, unknown>[]> =>
  (await admin(gateway)('GET', '/admin/audit')).body.items

// The first gateway of a file waits for everything to be loaded.
describe('settings for limits of every kind', () => {
  it('new kinds of settings are empty by default, and older documents are complete', async () => {
    const gateway = await testGateway()
    const call = admin(gateway)
    const { version: _, ...settings } = (await call('GET', SETTINGS)).body
    expect(settings).toMatchObject({ shadow: {}, plans: {}, thresholds: null })
    const { shadow: _s, plans: _p, thresholds: _t, ...older } = settings
    const stored = await call('PUT', SETTINGS, older)
    expect([stored.status, stored.body]).toMatchObject([200, { shadow: {}, plans: {}, thresholds: null }])
  })

  it('shadowed limits refuse nobody, count for administrators, and are hidden from users', async () => {
    const gateway = await testGateway()
    const stored = await change(gateway, { shadow: { personal: ['1h'], site: 'all' } })
    expect([stored.status, stored.body.shadow]).toEqual([200, { personal: ['1h'], site: 'all' }])
    for (let count = 1; count <= 5; count++) expect((await upsert(gateway, count)).status).toBe(200)
    const seen = await windowsOf(gateway, `${QUOTA}/status`)
    expect(seen.map(({ layer, window, limit, used, enforced }) => [layer, window, limit, used, enforced])).toEqual([
      ['personal', '1h', 60, 75, false],
      ['personal', '5h', 200, 75, true],
      ['personal', '1d', 600, 75, true],
      ['site', '1h', 1_500, 75, false],
      ['site', '5h', 5_000, 75, false],
      ['site', '1d', 18_000, 75, false],
    ])
    const own = (await gateway.send('GET', '/me/quota')).body.windows.write
    expect(own.map(({ scope, window }: Window) => [scope, window])).toEqual([
      ['Personal', '5h'],
      ['Personal', '1d'],
    ])
    await change(gateway, { shadow: {} })
    expect((await upsert(gateway, 6)).status).toBe(429)
    const [last, before] = await trailOf(gateway)
    expect([last?.before, before?.after]).toMatchObject(Array(2).fill({ shadow: { personal: ['1h'], site: 'all' } }))
  })

  it('plans in settings apply to users until they expire', async () => {
    const gateway = await testGateway()
    const call = admin(gateway)
    const unknown = await call('PUT', QUOTA, { plan: 'pro' })
    expect([unknown.status, unknown.body.details]).toMatchObject([422, [{ path: 'plan' }]])
    const plans = { pro: { personal: { write: { '1h': 600 } } }, team: {} }
    const stored = await change(gateway, { plans, mode: 'lenient' })
    expect([stored.status, stored.body.plans]).toEqual([200, plans])
    const until = { overrides: null, plan: new Date(START + HOUR_MS).toISOString() }
    const given = await call('PUT', QUOTA, { plan: 'pro', until, overrides: { write: { '5h': 7 } } })
    expect(given.body).toMatchObject({ plan: 'pro', until })
    expect((await call('GET', QUOTA)).body).toMatchObject({ plan: 'pro', until, anchor: null })
    const limits = async (): Promise<unknown[]> =>
      (await windowsOf(gateway, `${QUOTA}/status`)).slice(0, 3).map(({ limit }) => limit)
    expect(await limits()).toEqual([900, 7, 900])
    gateway.clock.set(START + HOUR_MS)
    expect(await limits()).toEqual([90, 7, 900])
    const [entry] = await trailOf(gateway)
    expect(entry).toMatchObject({ action: 'user-quota.change', subject: 'demo', after: { plan: 'pro', until } })
  })

  it('invalid settings are rejected whole, with every fault', async () => {
    const gateway = await testGateway()
    const refused = await change(gateway, {
      shadow: { personal: ['2h'], nobody: 'all' },
      plans: { 'a b': {}, pro: { site: {}, personal: { write: { '1h': -1 } } } },
      thresholds: [{ share: 0.801 }, { left: 1.5 }],
    })
    expect(refused.status).toBe(422)
    const paths = refused.body.details.map(({ path }: { path: string }) => path)
    expect(paths).toEqual(expect.arrayContaining(['shadow.nobody', 'plans.pro.site', 'plans.pro.personal.write.1h']))
    expect(paths.some((path: string) => path.startsWith('shadow.personal'))).toBe(true)
    expect(paths.some((path: string) => path.startsWith('thresholds'))).toBe(true)
    const user = await admin(gateway)('PUT', QUOTA, {
      until: { plan: '2026-08-06', overrides: '1969-12-31T23:59:59.999Z' },
      anchor: { day: 32, time: '24:00' },
    })
    expect(user.body.details.map(({ path }: { path: string }) => path).sort()).toEqual([
      'anchor.day',
      'anchor.time',
      'until.overrides',
      'until.plan',
    ])
  })

  it('thresholds report near limits, and an anchor moves a user’s periods', async () => {
    const gateway = await testGateway()
    const thresholds = [{ share: 0.5 }, { left: 10 }]
    expect((await change(gateway, { thresholds })).body.thresholds).toEqual(thresholds)
    const near: unknown[] = []
    gateway.gateway.app.quota.on('nearLimit', (event) => near.push([event.window.window, event.window.used]))
    for (let count = 1; count <= 4; count++) await upsert(gateway, count)
    expect(near).toEqual([
      ['1h', 30],
      ['1h', 60],
    ])
    const anchor = { day: 15, time: '06:00' }
    expect((await admin(gateway)('PUT', QUOTA, { anchor })).body).toMatchObject({ anchor })
    expect((await admin(gateway)('GET', QUOTA)).body).toMatchObject({ anchor })
    expect((await admin(gateway)('PUT', QUOTA, {})).body).toMatchObject({ anchor: null })
  })
})

describe('a monthly limit from the configuration', () => {
  const env = { QUOTA_MONTHLY_LIMIT: 'read=2000,write=30' }

  it('a monthly limit refuses until the next month in Shanghai, and the site only counts', async () => {
    const gateway = await testGateway({ env })
    expect([(await upsert(gateway, 1)).status, (await upsert(gateway, 2)).status]).toEqual([200, 200])
    const refused = await upsert(gateway, 3)
    expect([refused.status, refused.body.quota]).toMatchObject([
      429,
      { scope: 'Personal', window: 'month', limit: 30, used: 30, resetAt: '2026-08-31T16:00:00.000Z' },
    ])
    const months = (await windowsOf(gateway, `${QUOTA}/status`)).filter(({ window }) => window === 'month')
    expect(months).toMatchObject([
      { layer: 'personal', kind: 'calendar', limit: 30, used: 30, resetAt: '2026-08-31T16:00:00.000Z' },
      { layer: 'site', kind: 'calendar', limit: 'unlimited', used: 30 },
    ])
    gateway.clock.set(Date.UTC(2026, 7, 31, 16) - 1)
    expect((await upsert(gateway, 3)).status).toBe(429)
    gateway.clock.advance(1)
    expect((await upsert(gateway, 3)).status).toBe(200)
  })

  it('a monthly limit is in the policy and the settings, with the site unlimited', async () => {
    const gateway = await testGateway({ env })
    const { body } = await admin(gateway)('GET', '/admin/quota/policy')
    expect(body.windows.at(-1)).toEqual({ label: 'month', lengthMs: null, every: 'month', timeZone: 'Asia/Shanghai' })
    expect((await change(gateway, { mode: 'lenient' })).status).toBe(200)
    const limits = (await windowsOf(gateway, `${QUOTA}/status`)).filter(({ window }) => window === 'month')
    expect(limits.map(({ limit }) => limit)).toEqual([45, 'unlimited'])
  })
})

describe('buckets from the configuration', () => {
  const env = { QUOTA_MINUTE_LIMIT: 'read=60,write=50', QUOTA_MINUTE_BURST: '0.6' }

  it('a bucket admits its burst and then its refill, and the site only counts', async () => {
    const gateway = await testGateway({ env })
    expect([(await upsert(gateway, 1)).status, (await upsert(gateway, 2)).status]).toEqual([200, 200])
    const refused = await upsert(gateway, 3)
    expect([refused.status, refused.body.quota, refused.headers.get('Retry-After')]).toMatchObject([
      429,
      { scope: 'Personal', window: 'minute', limit: 50, burst: 30, used: 30, requested: 15 },
      '18',
    ])
    expect(refused.headers.get('RateLimit-Policy')).toContain('"personal-minute";q=50;w=60;burst=30')
    expect(refused.body.msg).toMatch(
      /^Reached Personal 1-Minute Quota Limit \(50, in bursts of 30\) for Write requests/,
    )
    gateway.clock.advance(18_000 - 1)
    expect((await upsert(gateway, 3)).status).toBe(429)
    gateway.clock.advance(1)
    expect((await upsert(gateway, 3)).status).toBe(200)
    const statuses = (await windowsOf(gateway, `${QUOTA}/status`)).filter(({ window }) => window === 'minute')
    expect(statuses).toMatchObject([
      { layer: 'personal', kind: 'bucket', limit: 50, burst: 30, used: 30, remaining: 0 },
      { layer: 'site', kind: 'bucket', limit: 'unlimited', burst: 'unlimited', used: 45 },
    ])
    const own = (await gateway.send('GET', '/me/quota')).body.windows.write
    expect(own[0]).toMatchObject({ window: 'minute', limit: 50, burst: 30, used: 30 })
  })

  it('a bucket is in the policy, and an override below a price gives a warning', async () => {
    const gateway = await testGateway({ env })
    const { body } = await admin(gateway)('GET', '/admin/quota/policy')
    expect(body.windows[0]).toEqual({ label: 'minute', lengthMs: 60_000, burst: { share: 0.6 } })
    const warningsOf = async (minute: number): Promise<unknown> =>
      (await admin(gateway)('PUT', QUOTA, { overrides: { write: { minute } } })).body.warnings
    expect(await warningsOf(40)).toEqual([
      {
        path: 'overrides.write.minute',
        msg: 'the override of 40 tokens, which lets 24 through together, is below the price of charge.5',
      },
    ])
    expect(await warningsOf(42)).toEqual([])
  })
})

describe('concurrent imports from the configuration', () => {
  const env = { QUOTA_MAX_CONCURRENT_IMPORTS: '1' }

  it('an import frees its slot, whatever its result', async () => {
    const gateway = await sourceGateway({ env })
    const slots = async (): Promise<unknown> =>
      (await windowsOf(gateway, `${QUOTA}/status`, 'read')).find(({ window }) => window === 'imports')?.used
    gateway.lx.answer(lxScores())
    expect((await gateway.updateLx()).status).toBe(200)
    await expect.poll(slots).toBe(0)
    gateway.lx.answer((_req, res) => void res.writeHead(500).end())
    expect((await gateway.updateLx()).status).toBe(502)
    await expect.poll(slots).toBe(0)
    expect((await windowsOf(gateway, `${QUOTA}/status`, 'read')).find(({ window }) => window === '1h')?.used).toBe(5)
  })
})

describe.runIf(redisTests)('configured limits on Redis', () => {
  it('monthly limits and slots are kept in Redis, and a hold can be released', async () => {
    const redis = await redisServer()
    const env = {
      QUOTA_MONTHLY_LIMIT: 'read=2000,write=800',
      QUOTA_MINUTE_LIMIT: 'read=60,write=60',
      QUOTA_MAX_CONCURRENT_IMPORTS: '1',
      REDIS_URL: redis.url,
    }
    const gateway = await sourceGateway({ env })
    const call = admin(gateway)
    const waiting = held(lxScores())
    gateway.lx.answer(waiting.answer)
    const first = gateway.updateLx()
    const holds = async (): Promise<{ ref: string }[]> => (await call('GET', `${QUOTA}/holds`)).body.items
    await expect.poll(async () => (await holds()).length).toBe(1)
    expect((await gateway.updateFish()).body.quota).toMatchObject({ window: 'imports', used: 1 })
    const used = async (label: string): Promise<unknown> =>
      (await windowsOf(gateway, `${QUOTA}/status`, 'read')).find(({ window }) => window === label)?.used
    expect([await used('imports'), await used('month')]).toEqual([1, 5])
    // Redis keeps its own time: some of the bucket's tokens may have come back.
    expect([0, 1, 2, 3, 4, 5]).toContain(await used('minute'))
    for (const { ref } of await holds()) expect((await call('DELETE', `${QUOTA}/holds/${ref}`)).status).toBe(204)
    expect([await used('imports'), await used('month')]).toEqual([0, 0])
    waiting.release()
    expect((await first).status).toBe(200)
  })
})

describe('configured limits that counters can’t keep', () => {
  const { limits } = loadConfig({ QUOTA_MONTHLY_LIMIT: 'read=1,write=1', QUOTA_MAX_CONCURRENT_IMPORTS: '1' })
  const { limits: minute } = loadConfig({ QUOTA_MINUTE_LIMIT: 'read=1,write=1' })

  it('a limit that the counters can’t keep is reported with its variable', () => {
    const both = /QUOTA_MONTHLY_LIMIT: the counters at REDIS_URL.*\n.*QUOTA_MAX_CONCURRENT_IMPORTS: the counters/
    expect(() => checkConfigured(limits, {})).toThrow(both)
    expect(() => checkConfigured(limits, { can: { calendar: true, holds: true } })).toThrow(/IMPORTS/)
    expect(() => checkConfigured(limits, { can: { calendar: true, concurrency: 'own' } })).toThrow(/IMPORTS/)
    expect(() => checkConfigured(limits, { can: { calendar: true, holds: true, concurrency: 'own' } })).not.toThrow()
    expect(() => checkConfigured(minute, { can: { calendar: true } })).toThrow(
      /QUOTA_MINUTE_LIMIT.*cannot keep buckets/,
    )
    expect(() => checkConfigured(minute, { can: { bucket: true } })).not.toThrow()
    expect(() => checkConfigured(loadConfig({}).limits, {})).not.toThrow()
  })
})
