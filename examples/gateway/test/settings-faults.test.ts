import { describe, expect, it } from 'vitest'
import type { Db } from '../src/db/schema.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import { ADMIN_TOKEN, type Answer, tempDir, testGateway, usedOf } from './support/gateway.ts'
import { withSettings } from './support/settings-backup.ts'

const SETTINGS = '/admin/quota/settings'

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

describe('malformed settings', () => {
  it.each([
    ['a number', 5],
    ['a list', [1, 2]],
    ['no JSON', '{"mode":'],
    [
      'limits that are none',
      { mode: 'custom', custom: { 'personal-write-1h': -1, 'personal-write-5h': 'x', 'personal-write-1d': null } },
    ],
    ['no limits', { mode: 'custom', limits: null, custom: 7, shared: [], prices: { 'music.upsert': -3 } }],
  ])('malformed settings don’t break the gateway: %s', async (_name, document) => {
    const gateway = await testGateway({ dataDir: await folderWith(document) })
    const { body, status } = await read(gateway.send)
    expect([status, body.version]).toEqual([200, 7])
    expect((await gateway.send('POST', '/v1/user/music')).status).toBe(200)
    expect(await usedOf(gateway)).toEqual({ read: 4, write: 0 })
    expect(gateway.log.join('')).toContain('some of the stored settings is not in force')
    const { version: __, ...again } = body
    const put = { token: ADMIN_TOKEN, headers: { 'If-Match': '"7"' }, body: { ...again, mode: 'normal', custom: null } }
    expect((await gateway.send('PUT', SETTINGS, put)).body.version).toBe(8)
  })
})
