import { join } from 'node:path'
import { postgresTests } from '@scoregw/postgres-server'
import { SignJWT } from 'jose'
import Database from 'libsql'
import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, type Answer, ENTRY, type SendOptions, type TestGateway, testGateway } from './support/gateway.ts'
import { testDatabase } from './support/postgres.ts'
import { BOT_TOKEN, botOf, recordOf } from './support/sync.ts'

const JWT_SECRET = 'a-secret-for-tests-of-32-characters-or-more'
const PLENTY = { read: { '1h': 9_999 }, write: { '1h': 9_999 } }
const QQ = 45_678

interface Tested extends TestGateway {
  admin(method: string, path: string, options?: SendOptions): Promise<Answer>
  /** A new token of a user. */
  tokenOf(id: string): Promise<string>
  /** Names of the tables that have a text in one of their rows. */
  tablesWith(text: string): Promise<readonly string[]>
}

type Start = () => Promise<Tested>

const KINDS: readonly (readonly [name: string, isOn: boolean, start: Start])[] = [
  [
    'in the embedded database',
    true,
    async () => {
      const gateway = await testGateway({ env: { JWT_SECRET, BOT_TOKEN } })
      return withHelp(gateway, async (sql) => {
        const file = new Database(join(gateway.dataDir, 'gateway.sqlite'), { readonly: true })
        const rows = file.prepare(sql.names).all() as { name: string }[]
        const texts = rows.map(
          ({ name }) => [name, JSON.stringify(file.prepare(`select * from "${name}"`).all())] as const,
        )
        file.close()
        return texts
      })
    },
  ],
  [
    'on PostgreSQL',
    postgresTests,
    async () => {
      const database = await testDatabase()
      const gateway = await testGateway({ env: { JWT_SECRET, BOT_TOKEN, DATABASE_URL: database.url } })
      return withHelp(gateway, async () => {
        const names = await database.sql("select tablename as name from pg_tables where schemaname = 'public'")
        const dumps = names.map(({ name }) => `select '${name}' as name, (select json_agg(t) from "${name}" t) as rows`)
        const tables = await database.sql(dumps.join(' union all '))
        return tables.map(({ name, rows }) => [String(name), JSON.stringify(rows)] as const)
      })
    },
  ],
]

function withHelp(
  gateway: TestGateway,
  tables: (sql: { names: string }) => Promise<readonly (readonly [name: string, text: string])[]>,
): Tested {
  const admin: Tested['admin'] = (method, path, options) =>
    gateway.send(method, path, { token: ADMIN_TOKEN, ...options })
  return {
    ...gateway,
    admin,
    async tokenOf(id) {
      return (await admin('POST', `/admin/users/${id}/tokens`, { body: {} })).body.token
    },
    async tablesWith(text) {
      const names = "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'"
      const found = (await tables({ names })).filter(([, rows]) => rows.includes(text))
      return found.map(([name]) => name).sort()
    },
  }
}

const jwtOf = ({ clock }: Tested, sub: string): Promise<string> =>
  new SignJWT({ sub, exp: clock.now() / 1_000 + 3_600 })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(JWT_SECRET))

const upsert = (send: TestGateway['send'], token: string, dxScore = 1_000): Promise<Answer> =>
  send('POST', '/v1/music/upsert', { token, body: { musicList: [{ ...ENTRY, dxScore }] } })

const scoresOf = async (send: TestGateway['send'], token: string): Promise<unknown[]> =>
  (await send('POST', '/v1/user/music', { token })).body.businessData.userMusicDetailList

/** The newest entries of the audit trail about a user: what was done, and what it left. */
async function auditOf({ admin }: Tested, subject: string, count: number): Promise<unknown[]> {
  const { body } = await admin('GET', '/admin/audit?limit=100')
  const entries: { subject: string; action: string; before: unknown; after: unknown }[] = body.items
  return entries
    .filter((entry) => entry.subject === subject)
    .slice(0, count)
    .map(({ action, before, after }) => ({ action, before, after }))
}

describe.each(KINDS)('a user %s', (_, isOn, start) => {
  it.runIf(isOn)('a disabled user’s credentials are rejected, and the user’s data is kept', async () => {
    const gateway = await start()
    const { send, admin, tokenOf } = gateway
    const [token, jwt] = [await tokenOf('kay'), await jwtOf(gateway, 'kay')]
    expect((await upsert(send, token)).status).toBe(200)
    const { body: before, headers } = await admin('GET', '/admin/users/kay')
    expect(before.disabled).toBe(false)
    const etag = headers.get('ETag') ?? ''

    const disable = { body: { disabled: true }, headers: { 'If-Match': etag } }
    const disabled = await admin('PUT', '/admin/users/kay', disable)
    expect([disabled.status, disabled.body]).toEqual([200, { ...before, disabled: true }])
    expect(disabled.headers.get('ETag')).not.toBe(etag)
    expect((await admin('PUT', '/admin/users/kay', disable)).status).toBe(412)
    expect((await admin('GET', '/admin/users?query=kay')).body.items).toMatchObject([disabled.body])

    for (const credential of [token, jwt]) {
      const refused = { status: 403, body: { error: 'user_disabled', msg: expect.stringContaining('disabled') } }
      expect(await send('POST', '/v1/user/music', { token: credential })).toMatchObject(refused)
      expect(await send('GET', '/me/quota', { token: credential })).toMatchObject(refused)
      // As for every other caller: which paths there are is not shown.
      expect(await send('GET', '/no/such/path', { token: credential })).toMatchObject(refused)
    }
    expect((await send('GET', '/openapi.json', { token })).status).toBe(200)
    expect(await gateway.tablesWith('"kay"')).toContain('scores')

    expect((await admin('PUT', '/admin/users/kay', { body: { disabled: false } })).body).toEqual(before)
    expect(await scoresOf(send, token)).toHaveLength(1)
    expect(await scoresOf(send, jwt)).toHaveLength(1)
    const shown = { name: 'kay', role: 'player', qq: null }
    expect(await auditOf(gateway, 'kay', 2)).toEqual([
      { action: 'user.change', before: { ...shown, disabled: true }, after: { ...shown, disabled: false } },
      { action: 'user.change', before: { ...shown, disabled: false }, after: { ...shown, disabled: true } },
    ])
    const wrong = await admin('PUT', '/admin/users/kay', { body: { disabled: 'yes' } })
    expect([wrong.status, wrong.body.details]).toEqual([422, [{ path: 'disabled', msg: 'expected true or false' }]])
  })

  it.runIf(isOn)('a deleted user leaves only the audit trail and the shared charges', async () => {
    const gateway = await start()
    const { send, admin, tokenOf } = gateway
    await admin('PUT', '/admin/users/zoe', { body: { name: 'Zoe', qq: QQ } })
    const [token, jwt] = [await tokenOf('zoe'), await jwtOf(gateway, 'zoe')]
    await admin('PUT', '/admin/users/zoe/quota', { body: { overrides: PLENTY, bypassSite: false } })
    await upsert(send, token)
    await send('POST', '/v1/charge', { token, body: { chargeId: 2 }, headers: { 'Idempotency-Key': 'once' } })
    const session = await send('POST', '/v1/upsert/session', { token, body: { expected: 2 } })
    const { sessionId } = session.body.businessData
    await send('POST', '/v1/music/upsert', { token, body: { sessionId, musicList: [{ ...ENTRY, musicId: 102 }] } })
    const bot = botOf(gateway.gateway.addresses.sync)
    const chunk = { qq: QQ, full_snapshot: true, snapshot_id: 'open', records: [recordOf(10_104, 2)] }
    expect((await bot.sync(chunk)).status).toBe(200)
    const { body: before } = await send('GET', '/me/quota', { token })
    expect(before.windows.write[0]).toMatchObject({ limit: 9_999, held: 15 })

    const { headers } = await admin('GET', '/admin/users/zoe')
    await admin('PUT', '/admin/users/zoe', { body: { name: 'Zoë' } })
    const stale = { headers: { 'If-Match': headers.get('ETag') ?? '' } }
    expect((await admin('DELETE', '/admin/users/zoe', stale)).status).toBe(412)
    expect((await send('GET', '/me/quota', { token })).body.windows.write[0].limit).toBe(9_999)

    const fresh = { headers: { 'If-Match': (await admin('GET', '/admin/users/zoe')).headers.get('ETag') ?? '' } }
    const deleted = await admin('DELETE', '/admin/users/zoe', fresh)
    expect([deleted.status, deleted.body]).toEqual([204, undefined])
    expect((await admin('DELETE', '/admin/users/zoe')).status).toBe(404)
    expect((await admin('GET', '/admin/users/zoe')).status).toBe(404)
    expect((await send('GET', '/me/quota', { token })).status).toBe(401)
    const [last, overrides] = await auditOf(gateway, 'zoe', 2)
    const shown = { name: 'Zoë', role: 'player', disabled: false, qq: QQ }
    expect(last).toEqual({ action: 'user.delete', before: shown, after: null })
    expect(overrides).toMatchObject({ action: 'user-quota.change', after: null })
    const mentions = await gateway.tablesWith('zoe')
    const known = ['audit_entries', 'counter_changes', 'counter_ids', 'counter_rows', 'counter_settings']
    expect(mentions.filter((name) => !known.includes(name))).toEqual([])

    // A valid JWT makes another user of the id, who has nothing of the one before; what was used stays used until its windows end.
    expect(await scoresOf(send, jwt)).toEqual([])
    const { windows } = (await send('GET', '/me/quota', { token: jwt })).body
    const siteOf = (all: readonly { scope: string; used: number }[]) => all.filter(({ scope }) => scope === 'Site')
    const givenBack = siteOf(before.windows.write).map(({ used }) => used - 15)
    expect(siteOf(windows.write).map(({ used }) => used)).toEqual(givenBack)
    expect(windows.write[0]).toMatchObject({ limit: 60, used: before.windows.write[0].used - 15 })
    expect(windows.write[0]).not.toHaveProperty('held')
    // The bot's snapshot is over, and the player's account is nobody's.
    expect((await bot.sync({ ...chunk, records: [recordOf(10_106, 3)] })).status).toBe(409)
  })

  it.runIf(isOn)('a user can be deleted while their requests are in flight', async () => {
    const gateway = await start()
    const { send, admin, tokenOf } = gateway
    for (let round = 0; round < 4; round++) {
      const id = `busy-${round}`
      const token = await tokenOf(id)
      await admin('PUT', `/admin/users/${id}/quota`, { body: { overrides: PLENTY } })
      const work = Array.from({ length: 12 }, (_, index) => {
        if (index === 3 + round) return admin('DELETE', `/admin/users/${id}`)
        const key = { 'Idempotency-Key': `${index}` }
        return index % 2 === 0
          ? upsert(send, token, 100 + index)
          : send('POST', '/v1/charge', { token, body: { chargeId: 2 }, headers: key })
      })
      const statuses = (await Promise.all(work)).map(({ status }) => status)
      // Overrides may take a moment to be in force.
      expect(statuses.filter((status) => ![200, 204, 401, 429].includes(status))).toEqual([])
      expect(statuses.filter((status) => status === 204)).toHaveLength(1)
      expect((await upsert(send, token)).status).toBe(401)
      const data = ['scores', 'tickets', 'idempotency_keys', 'tokens', 'users']
      expect((await gateway.tablesWith(`"${id}"`)).filter((table) => data.includes(table))).toEqual([])
    }
  })

  it.runIf(isOn)('the last administrator can’t be disabled or deleted', async () => {
    const { send, admin, tokenOf } = await start()
    const last = { status: 409, body: { error: 'conflict', msg: expect.stringContaining('last administrator') } }
    await admin('PUT', '/admin/users/admin/quota', { body: { bypassSite: true } })
    expect(await admin('DELETE', '/admin/users/admin')).toMatchObject(last)
    expect((await admin('GET', '/admin/users/admin/quota')).body).toMatchObject({ bypassSite: true })
    expect(await admin('PUT', '/admin/users/admin', { body: { disabled: true } })).toMatchObject(last)
    // One who is disabled does not count.
    await admin('PUT', '/admin/users/mo', { body: { role: 'admin', disabled: true } })
    expect(await admin('DELETE', '/admin/users/admin')).toMatchObject(last)
    await admin('PUT', '/admin/users/mo', { body: { disabled: false } })
    // Each gets rid of the other: one of them stays.
    const mo = await tokenOf('mo')
    const both = await Promise.all([
      admin('DELETE', '/admin/users/mo'),
      send('PUT', '/admin/users/admin', { token: mo, body: { disabled: true } }),
    ])
    const statuses = both.map(({ status }) => status).sort()
    expect(statuses.filter((status) => status < 300)).toHaveLength(1)
    expect([401, 403, 409]).toContain(Math.max(...statuses))
  })

  it.runIf(isOn)('only administrators can delete a user', async () => {
    const { send, admin, tokenOf } = await start()
    await tokenOf('kay')
    expect((await send('DELETE', '/admin/users/kay')).status).toBe(403)
    expect((await send('DELETE', '/admin/users/kay', { token: null })).status).toBe(401)
    expect((await admin('DELETE', '/admin/users/%00')).status).toBe(422)
    expect((await admin('DELETE', '/admin/users/kay', { headers: { 'If-Match': 'x' } })).status).toBe(400)
    expect((await admin('GET', '/admin/users/kay')).status).toBe(200)
  })
})
