import { join } from 'node:path'
import Database from 'libsql'
import { describe, expect, it } from 'vitest'
import {
  settingsAnswer,
  settingsDocument,
  statusDocument,
  userQuotaAnswer,
  userQuotaDocument,
} from '../src/quota/documents.ts'
import {
  ADMIN_TOKEN,
  type Answer,
  databaseOf,
  ENTRY,
  HOUR_MS,
  START,
  type TestGateway,
  testGateway,
  usedOf,
} from './support/gateway.ts'

const SETTINGS = '/admin/quota/settings'
/** Of a document at version 1: its revision is there too. */
const FIRST_TAG = /^"1-[\w-]{22}"$/
const QUOTA = '/admin/users/demo/quota'

/** An upsert that stores something else each time. */
let plays = 0
function upsert({ send }: TestGateway, headers: Record<string, string> = {}): Promise<Answer> {
  plays++
  return send('POST', '/v1/music/upsert', { headers, body: { musicList: [{ ...ENTRY, dxScore: plays }] } })
}

const admin =
  (gateway: TestGateway) =>
  (method: string, path: string, body?: unknown, ifMatch?: string): Promise<Answer> =>
    gateway.send(method, path, {
      token: ADMIN_TOKEN,
      ...(body === undefined ? {} : { body }),
      headers: ifMatch === undefined ? {} : { 'If-Match': ifMatch },
    })

describe('the quota status', () => {
  it('the status lists personal windows before the site’s, all closed at first', async () => {
    const { send } = await testGateway()
    const { status, body, headers } = await send('GET', '/me/quota')
    expect(status).toBe(200)
    expect(statusDocument.parse(body)).toEqual(body)
    const closed = { used: 0, startedAt: null, resetAt: null }
    expect(body).toEqual({
      windows: {
        read: [
          { scope: 'Personal', window: '1h', limit: 120, remaining: 120, ...closed },
          { scope: 'Personal', window: '5h', limit: 400, remaining: 400, ...closed },
          { scope: 'Personal', window: '1d', limit: 1200, remaining: 1200, ...closed },
          { scope: 'Site', window: '1h', limit: 3000, remaining: 3000, ...closed },
          { scope: 'Site', window: '5h', limit: 10_000, remaining: 10_000, ...closed },
          { scope: 'Site', window: '1d', limit: 36_000, remaining: 36_000, ...closed },
        ],
        write: [
          { scope: 'Personal', window: '1h', limit: 60, remaining: 60, ...closed },
          { scope: 'Personal', window: '5h', limit: 200, remaining: 200, ...closed },
          { scope: 'Personal', window: '1d', limit: 600, remaining: 600, ...closed },
          { scope: 'Site', window: '1h', limit: 1500, remaining: 1500, ...closed },
          { scope: 'Site', window: '5h', limit: 5000, remaining: 5000, ...closed },
          { scope: 'Site', window: '1d', limit: 18_000, remaining: 18_000, ...closed },
        ],
      },
      timeZone: 'Asia/Shanghai',
    })
    expect(headers.get('Cache-Control')).toBe('no-store')
    expect((await send('GET', '/quota')).body).toEqual(body)
  })

  it('the status shows 15 write and 4 read tokens after an upsert and a read, from their instants', async () => {
    const gateway = await testGateway()
    await upsert(gateway)
    gateway.clock.advance(60_000)
    await gateway.send('POST', '/v1/user/music')
    const { body } = await gateway.send('GET', '/me/quota')
    expect(body.windows.write.map(({ used }: { used: number }) => used)).toEqual([15, 15, 15, 15, 15, 15])
    expect(body.windows.read.map(({ used }: { used: number }) => used)).toEqual([4, 4, 4, 4, 4, 4])
    expect(body.windows.write[1]).toMatchObject({
      startedAt: '2026-08-06T14:06:26.000Z',
      resetAt: '2026-08-06T19:06:26.000Z',
    })
    expect(body.windows.read[0]).toMatchObject({
      startedAt: '2026-08-06T14:07:26.000Z',
      resetAt: '2026-08-06T15:07:26.000Z',
    })
  })
})

describe('requests above the quota', () => {
  it('a refused request gets a complete 429 and is admitted at its retry time', async () => {
    const gateway = await testGateway({ env: { SUPPORT_FORUM_URL: 'https://forum.example.com/more' } })
    for (let count = 1; count <= 4; count++) expect((await upsert(gateway)).status).toBe(200)
    gateway.clock.advance(500)
    const before = databaseOf(gateway.dataDir)
    const refused = await upsert(gateway)
    expect(refused.status).toBe(429)
    expect(refused.body).toEqual({
      error: 'quota_exceeded',
      msg: 'Reached Personal 1-Hour Quota Limit for Write requests. You may continue after 2026-08-06 23:06:26 Beijing Time (UTC+8). For a higher quota, ask at https://forum.example.com/more.',
      retryAfterSeconds: 3600,
      quota: {
        scope: 'Personal',
        category: 'write',
        window: '1h',
        limit: 60,
        used: 60,
        requested: 15,
        resetAt: '2026-08-06T15:06:26.000Z',
        retryAtBeijing: '2026-08-06 23:06:26',
        timeZone: 'Asia/Shanghai',
        retryAt: '2026-08-06T15:06:26.000Z',
        windowLabel: '1-Hour',
      },
    })
    expect(
      Object.fromEntries(
        ['Retry-After', 'X-Quota-Reset', 'RateLimit'].map((name) => [name, refused.headers.get(name)]),
      ),
    ).toEqual({
      'Retry-After': '3600',
      'X-Quota-Reset': '2026-08-06T15:06:26.000Z',
      RateLimit: '"personal-write-1h";r=0;t=3600',
    })
    expect((await upsert(gateway, { 'Accept-Language': 'zh-CN,zh;q=0.9' })).body.msg).toContain(
      '已达到个人 1 小时写入配额上限',
    )
    expect(databaseOf(gateway.dataDir)).toEqual(before)
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 60 })
    gateway.clock.set(START + HOUR_MS - 1)
    expect((await upsert(gateway)).status).toBe(429)
    gateway.clock.set(START + HOUR_MS)
    expect((await upsert(gateway)).status).toBe(200)
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 15 })
  })

  it('a refused user blocks neither other users nor the other category', async () => {
    const gateway = await testGateway()
    for (let count = 1; count <= 5; count++) await upsert(gateway)
    expect((await gateway.send('POST', '/v1/user/music')).status).toBe(200)
    const body = { musicList: [ENTRY] }
    expect((await gateway.send('POST', '/v1/music/upsert', { token: ADMIN_TOKEN, body })).status).toBe(200)
  })
})

describe('quota settings', () => {
  it('settings can be read, changed under If-Match, and apply immediately', async () => {
    const gateway = await testGateway()
    const call = admin(gateway)
    for (let count = 1; count <= 4; count++) await upsert(gateway)
    expect((await upsert(gateway)).status).toBe(429)
    const read = await call('GET', SETTINGS)
    expect(settingsDocument.parse(read.body)).toEqual(read.body)
    expect(read.headers.get('ETag')).toBe('"0"')
    const { version: _, ...document } = read.body
    const stored = await call('PUT', SETTINGS, { ...document, mode: 'lenient' }, '"0"')
    expect(stored.status).toBe(200)
    expect(settingsAnswer.parse(stored.body)).toEqual(stored.body)
    expect(stored.body).toEqual({ ...document, mode: 'lenient', version: 1, warnings: [] })
    expect(stored.headers.get('ETag')).toMatch(FIRST_TAG)
    expect((await upsert(gateway)).status).toBe(200)
    expect((await gateway.send('GET', '/me/quota')).body.windows.write[0]).toMatchObject({
      limit: 90,
      used: 75,
      remaining: 15,
    })
    expect((await call('GET', SETTINGS)).body).toEqual({ ...document, mode: 'lenient', version: 1 })
    expect((await call('PUT', SETTINGS, document, '"0"')).status).toBe(412)
    expect((await call('PUT', SETTINGS, document, '*')).body.version).toBe(2)
    expect((await call('PUT', SETTINGS, document, '"9", "2"')).body.version).toBe(3)
    const tag = (await call('GET', SETTINGS)).headers.get('ETag') ?? ''
    const lost = await call('PUT', SETTINGS, document, '"3-somethingElse"')
    expect([lost.status, lost.headers.get('ETag')]).toEqual([412, tag])
    expect((await call('PUT', SETTINGS, document, `W/${tag}`)).status).toBe(412)
    expect((await call('PUT', SETTINGS, document, tag)).body.version).toBe(4)
    expect((await call('PUT', SETTINGS, document, tag)).status).toBe(412)
  })

  it('one of two administrators who change settings together gets a conflict', async () => {
    const gateway = await testGateway()
    const call = admin(gateway)
    const { version: _, ...document } = (await call('GET', SETTINGS)).body
    const modes = ['lenient', 'conservative', 'normal', 'lenient']
    const answers = await Promise.all(modes.map((mode) => call('PUT', SETTINGS, { ...document, mode }, '"0"')))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412])
    expect((await call('GET', SETTINGS)).body.version).toBe(1)
  })

  it('settings disable the site layer, multiply it, and give mode custom its own table', async () => {
    const gateway = await testGateway()
    const call = admin(gateway)
    const { version: _, ...document } = (await call('GET', SETTINGS)).body
    const limits = async (): Promise<number[]> =>
      (await gateway.send('GET', '/me/quota')).body.windows.write.map(({ limit }: { limit: number }) => limit)
    await call('PUT', SETTINGS, { ...document, site: { enabled: true, multiplier: 0.25 } }, '"0"')
    expect(await limits()).toEqual([60, 200, 600, 375, 1250, 4500])
    await call('PUT', SETTINGS, { ...document, site: { enabled: false, multiplier: 1 } }, '"1"')
    expect(await limits()).toEqual([60, 200, 600])
    const windows = { '1h': 20, '5h': 30, '1d': 40 }
    const custom = { personal: { read: windows, write: windows }, site: { read: windows, write: windows } }
    await call('PUT', SETTINGS, { ...document, mode: 'custom', custom }, '"2"')
    expect(await limits()).toEqual([20, 30, 40, 20, 30, 40])
  })

  it('settings store only changed prices and warn about operations above a limit', async () => {
    const gateway = await testGateway()
    const call = admin(gateway)
    const { version: _, ...document } = (await call('GET', SETTINGS)).body
    const prices = { 'music.upsert': 61, 'music.delete': 10, 'user.music': 0 }
    const { body } = await call('PUT', SETTINGS, { ...document, prices }, '"0"')
    expect(body.prices).toEqual({ 'music.upsert': 61, 'user.music': 0 })
    expect(body.warnings).toEqual([
      { path: 'base.personal.write.1h', msg: 'the effective limit of 60 tokens is below the price of music.upsert' },
    ])
    const refused = await upsert(gateway)
    expect(refused.body).toMatchObject({ error: 'quota_exceeded', quota: { limit: 60, used: 0, requested: 61 } })
    expect(refused.body.msg).toContain('waiting will not help')
    await gateway.send('POST', '/v1/user/music')
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 0 })
  })

  it('settings changes are recorded: who, what, from what to what, and when', async () => {
    const gateway = await testGateway()
    const call = admin(gateway)
    const { version: _, ...document } = (await call('GET', SETTINGS)).body
    await call('PUT', SETTINGS, { ...document, mode: 'lenient' }, '"0"')
    await call('PUT', QUOTA, { bypassSite: true })
    await call('PUT', QUOTA, {})
    const trail = databaseOf(gateway.dataDir).counter_changes as { before: string | null; after: string | null }[]
    const parsed = trail.map((row) => ({
      ...row,
      before: JSON.parse(row.before ?? 'null'),
      after: JSON.parse(row.after ?? 'null'),
    }))
    const who = { changed_by: 'admin', changed_at: START }
    expect(parsed).toMatchObject([
      { seq: 1, layer: '', subject: '', before: null, after: { mode: 'lenient' }, ...who },
      { seq: 2, layer: 'personal', subject: 'demo', before: null, after: { bypass: { site: true } }, ...who },
      { seq: 3, layer: 'personal', subject: 'demo', before: { bypass: { site: true } }, after: { bypass: {} }, ...who },
    ])
  })
})

describe('a user’s quota', () => {
  const empty = { '1h': null, '5h': null, '1d': null }

  it('a user’s limits follow the default before overrides are set and after they are removed', async () => {
    const gateway = await testGateway()
    const call = admin(gateway)
    const read = await call('GET', QUOTA)
    expect(userQuotaDocument.parse(read.body)).toEqual({
      overrides: { read: empty, write: empty },
      bypassSite: false,
    })
    expect(read.headers.get('ETag')).toBe('"0"')
    const overrides = { read: empty, write: { '1h': 0, '5h': 12, '1d': null } }
    const stored = await call('PUT', QUOTA, { overrides, bypassSite: true }, '"0"')
    expect(userQuotaAnswer.parse(stored.body)).toEqual({
      overrides,
      bypassSite: true,
      warnings: [
        {
          path: 'overrides.write.1h',
          msg: 'the override of 0 tokens is below the price of ticket.clear, music.delete, music.upsert, user.clear, charge.2, charge.3, charge.5',
        },
        {
          path: 'overrides.write.5h',
          msg: 'the override of 12 tokens is below the price of music.upsert, user.clear, charge.3, charge.5',
        },
      ],
    })
    expect(stored.headers.get('ETag')).toMatch(FIRST_TAG)
    expect((await upsert(gateway)).status).toBe(429)
    const { body } = await gateway.send('GET', '/me/quota')
    expect(body.windows.write.map(({ limit }: { limit: number }) => limit)).toEqual([0, 12, 600])
    expect((await call('GET', QUOTA)).body).toEqual({ overrides, bypassSite: true })
    expect((await call('PUT', QUOTA, {}, '"0"')).status).toBe(412)
    const removed = await call('PUT', QUOTA, {}, '"1"')
    expect(removed.headers.get('ETag')).toMatch(/^"2-/)
    expect(removed.body).toEqual({ ...read.body, warnings: [] })
    expect((await call('GET', QUOTA)).body).toEqual(read.body)
    expect((await upsert(gateway)).status).toBe(200)
  })

  it('an administrator sees and resets a user’s usage, and the site’s only when it is named', async () => {
    const gateway = await testGateway()
    const call = admin(gateway)
    await upsert(gateway)
    await gateway.send('POST', '/v1/user/music')
    const used = (body: { windows: Record<string, { used: number }[]> }): Record<string, number[]> =>
      Object.fromEntries(
        Object.entries(body.windows).map(([category, windows]) => [category, windows.map((each) => each.used)]),
      )
    const status = await call('GET', `${QUOTA}/status`)
    const own = (await gateway.send('GET', '/me/quota')).body
    expect(status.body).toEqual(own)
    const write = await call('POST', `${QUOTA}/reset`, { category: 'write' })
    expect(used(write.body)).toEqual({ read: [4, 4, 4, 4, 4, 4], write: [0, 0, 0, 15, 15, 15] })
    const site = await call('POST', `${QUOTA}/reset`, { layer: 'site', category: 'read' })
    expect(used(site.body)).toEqual({ read: [4, 4, 4, 0, 0, 0], write: [0, 0, 0, 15, 15, 15] })
    const all = await call('POST', `${QUOTA}/reset`)
    expect(used(all.body)).toEqual({ read: [0, 0, 0, 0, 0, 0], write: [0, 0, 0, 15, 15, 15] })
  })
})

describe('a store that doesn’t answer', () => {
  it('a store that doesn’t answer gives 503 and never a refusal', async () => {
    const gateway = await testGateway()
    const file = new Database(join(gateway.dataDir, 'gateway.sqlite'))
    file.exec('alter table counter_settings rename to out_of_reach')
    for (const answer of [await upsert(gateway), await gateway.send('GET', '/me/quota')]) {
      expect([answer.status, answer.body.error]).toEqual([503, 'quota_unavailable'])
      expect(answer.headers.get('Retry-After')).toBe('5')
      expect(Object.keys(answer.body)).toEqual(['error', 'msg', 'requestId', 'retryAfterSeconds'])
    }
    file.exec('alter table out_of_reach rename to counter_settings')
    file.close()
    expect((await upsert(gateway)).status).toBe(200)
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 15 })
  })
})
