import { describe, expect, it } from 'vitest'
import type { Db } from '../src/db/schema.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import { gatewayPolicyOf, LAYERS, WINDOWS } from '../src/quota/policy.ts'
import { ADMIN_TOKEN, type Answer, tempDir, testGateway, usedOf } from './support/gateway.ts'
import { withSettings } from './support/settings-backup.ts'

const SETTINGS = '/admin/quota/settings'
const [HOUR, , DAY] = WINDOWS

/** A folder with a database in which settings are stored as nobody could send them. */
async function folderWith(document: unknown): Promise<string> {
  const dataDir = tempDir()
  const db: Db = await openSqlite(dataDir)
  const text = typeof document === 'string' ? document : JSON.stringify(document)
  const row = { layer: '', subject: '', version: 7, revision: 'A'.repeat(22), document: text }
  await withSettings(db).insertInto('counter_settings').values(row).execute()
  await db.destroy()
  return dataDir
}

const read = (send: (method: string, path: string, options: object) => Promise<Answer>): Promise<Answer> =>
  send('GET', SETTINGS, { token: ADMIN_TOKEN })

describe('settings of another policy', () => {
  it('settings of another policy apply as far as known, and the rest is reported and kept', async () => {
    const dataDir = tempDir()
    const before = await testGateway({ dataDir })
    const { version: _, ...document } = (await read(before.send)).body
    const { personal } = document.base
    const base = { ...document.base, personal: { ...personal, write: { '1h': 30, '5h': 40, '1d': 50 } } }
    const put = { token: ADMIN_TOKEN, headers: { 'If-Match': '*' }, body: { ...document, base, mode: 'lenient' } }
    expect((await before.send('PUT', SETTINGS, put)).status).toBe(200)
    await before.stop()

    // Without the five hours, with a minute and a layer more.
    const minute = { label: '1m', lengthMs: 60_000, tokens: { read: 20, write: 15 } }
    const campus = { name: 'campus', scope: 'Campus', shared: true, times: { every: 10 } }
    const policy = gatewayPolicyOf([minute, HOUR!, DAY!], [...LAYERS, campus])
    const after = await testGateway({ dataDir, policy })
    const { body, headers } = await read(after.send)
    expect(body).toMatchObject({
      version: 1,
      mode: 'lenient',
      base: { personal: { write: { '1m': 15, '1h': 30, '1d': 50 } }, campus: { read: { '1m': 200 } } },
      campus: { enabled: true, multiplier: 1 },
    })
    const paths = body.faults.map(({ path }: { path: string }) => path)
    expect(paths).toContain('base.personal.write.5h')
    expect(paths).toContain('base.personal.write.1m')
    expect(paths).toContain('campus.enabled')
    const { windows } = (await after.send('GET', '/me/quota')).body
    expect(windows.write.map(({ limit }: { limit: number }) => limit)).toEqual([
      ...[22, 45, 75],
      ...[562, 2_250, 27_000],
      ...[225, 900, 9_000],
    ])

    // The document may come back as it was read, but for its version.
    const { version: __, ...again } = body
    const stored = await after.send('PUT', SETTINGS, {
      token: ADMIN_TOKEN,
      headers: { 'If-Match': headers.get('ETag') ?? '' },
      body: { ...again, mode: 'normal' },
    })
    expect(stored.body.faults.map(({ path }: { path: string }) => path)).toEqual([
      'base.personal.read.5h',
      'base.personal.write.5h',
      'base.site.read.5h',
      'base.site.write.5h',
    ])
    await after.stop()
    const back = await testGateway({ dataDir })
    const { base: kept } = (await read(back.send)).body
    expect(kept.personal.write).toEqual({ '1h': 30, '5h': 40, '1d': 50 })
  })

  it.each([
    ['a number', 5],
    ['a list', [1, 2]],
    ['no JSON', '{"mode":'],
    ['limits that are none', { mode: 'custom', custom: { personal: { write: { '1h': -1, '5h': 'x', '1d': null } } } }],
    ['no limits', { mode: 'custom', base: null, custom: 7, layers: [], prices: { 'music.upsert': -3 } }],
    ['limits without an end', { mode: 'custom', custom: { personal: { write: { '1h': 'unlimited' } } } }],
  ])('malformed settings don’t break the gateway: %s', async (_name, document) => {
    const gateway = await testGateway({ dataDir: await folderWith(document) })
    const { body, status } = await read(gateway.send)
    expect([status, body.version]).toEqual([200, 7])
    expect(body.faults.length).toBeGreaterThan(0)
    expect((await gateway.send('POST', '/v1/user/music')).status).toBe(200)
    expect(await usedOf(gateway)).toEqual({ read: 4, write: 0 })
    expect(gateway.log.join('')).toContain('some of the stored settings is not in force')
    const { version: __, ...again } = body
    const put = { token: ADMIN_TOKEN, headers: { 'If-Match': '"7"' }, body: { ...again, mode: 'normal', custom: null } }
    expect((await gateway.send('PUT', SETTINGS, put)).body.version).toBe(8)
  })
})
