import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, type Answer, databaseOf, START, testGateway } from './support/gateway.ts'

type Call = (method: string, path: string, body?: unknown, ifMatch?: string) => Promise<Answer>

async function gateway(): Promise<Awaited<ReturnType<typeof testGateway>> & { call: Call }> {
  const running = await testGateway()
  const call: Call = (method, path, body, ifMatch) =>
    running.send(method, path, {
      token: ADMIN_TOKEN,
      ...(body === undefined ? {} : { body }),
      ...(ifMatch === undefined ? {} : { headers: { 'If-Match': ifMatch } }),
    })
  return { ...running, call }
}

const AT = new Date(START).toISOString()

/** All entries on one page, the oldest first. */
async function entriesOf(call: Call): Promise<unknown[]> {
  const { items, nextCursor } = (await call('GET', '/admin/audit')).body
  expect(nextCursor).toBeNull()
  return [...items].reverse()
}

describe('the audit trail', () => {
  it('the audit trail shows who changed the settings, when, from what and to what', async () => {
    const { call } = await gateway()
    const { version: _, ...document } = (await call('GET', '/admin/quota/settings')).body
    const after = { ...document, site: { enabled: false, multiplier: 2 } }
    await call('PUT', '/admin/quota/settings', after, '"0"')
    expect(await entriesOf(call)).toEqual([
      { seq: 1, at: AT, by: 'admin', action: 'settings.change', subject: null, before: null, after },
    ])
  })

  it('the audit trail shows when a user’s own limits are set and removed', async () => {
    const { call } = await gateway()
    await call('PUT', '/admin/users/demo/quota', { overrides: { write: { '1h': 120 } }, bypassSite: true })
    await call('PUT', '/admin/users/demo/quota', {})
    const none = { '1h': null, '5h': null, '1d': null }
    const override = {
      overrides: { read: none, write: { ...none, '1h': 120 } },
      bypassSite: true,
    }
    expect(await entriesOf(call)).toMatchObject([
      { action: 'user-quota.change', subject: 'demo', before: null, after: override },
      {
        action: 'user-quota.change',
        subject: 'demo',
        before: override,
        after: { overrides: { read: none, write: none }, bypassSite: false },
      },
    ])
  })

  it('the audit trail shows a reset with what was used before it', async () => {
    const { call, send } = await gateway()
    await send('POST', '/v1/user/music')
    await call('POST', '/admin/users/demo/quota/reset', { category: 'read' })
    const read = { 'personal-read-1h': 4, 'personal-read-5h': 4, 'personal-read-1d': 4 }
    const used = { ...read, 'personal-write-1h': 0, 'personal-write-5h': 0, 'personal-write-1d': 0 }
    expect(await entriesOf(call)).toMatchObject([
      { action: 'quota.reset', subject: 'demo', before: { used }, after: { reset: { category: 'read' } } },
    ])
  })

  it('the audit trail shows changes of users and balances, and skips writes that changed nothing', async () => {
    const { call, clock } = await gateway()
    clock.advance(1)
    await call('PUT', '/admin/users/carol', { name: 'Carol', qq: 10_000 })
    await call('PUT', '/admin/users/carol', { role: 'admin' })
    await call('PUT', '/admin/users/carol', { role: 'admin' })
    await call('POST', '/admin/users/carol/balance', { add: 5 })
    await call('POST', '/admin/users/carol/balance', { set: 15 })
    const carol = { name: 'Carol', role: 'player', disabled: false, qq: 10_000 }
    const at = new Date(START + 1).toISOString()
    expect(await entriesOf(call)).toEqual(
      [
        { action: 'user.create', subject: 'carol', before: null, after: carol },
        { action: 'user.change', subject: 'carol', before: carol, after: { ...carol, role: 'admin' } },
        { action: 'balance.change', subject: 'carol', before: { balance: 10 }, after: { balance: 15 } },
      ].map((entry, index) => ({ seq: index + 1, at, by: 'admin', ...entry })),
    )
  })

  it('the audit trail shows issued and revoked credentials without secrets or hashes', async () => {
    const { call, dataDir } = await gateway()
    const token = (await call('POST', '/admin/users/dave/tokens', { label: 'phone' })).body
    await call('DELETE', `/admin/users/dave/tokens/${token.id}`)
    const bot = (await call('POST', '/admin/bots', { name: 'nightly' })).body
    await call('DELETE', `/admin/bots/${bot.id}`)
    const key = (await call('POST', '/admin/chart-keys', { name: 'viewer' })).body
    const items = await entriesOf(call)
    expect(items).toMatchObject([
      { action: 'user.create', subject: 'dave', before: null, after: { name: 'dave', role: 'player', qq: null } },
      { action: 'token.issue', subject: 'dave', before: null, after: { id: token.id, label: 'phone' } },
      { action: 'token.revoke', subject: 'dave', before: { id: token.id, label: 'phone' }, after: null },
      { action: 'bot.issue', subject: bot.id, before: null, after: { name: 'nightly' } },
      { action: 'bot.revoke', subject: bot.id, before: { name: 'nightly' }, after: null },
      { action: 'chart-key.issue', subject: key.id, before: null, after: { name: 'viewer' } },
    ])
    const rows = databaseOf(dataDir)
    const hashes = (rows.tokens ?? []) as { hash: string }[]
    const text = JSON.stringify(items)
    for (const secret of [token.token, bot.token, key.token, ...hashes.map(({ hash }) => hash)]) {
      expect(text).not.toContain(secret)
    }
  })

  it('the audit trail has no entry for a refused request', async () => {
    const { call } = await gateway()
    await call('PUT', '/admin/quota/settings', {}, '"0"')
    await call('PUT', '/admin/users/admin', { role: 'player' })
    await call('POST', '/admin/users/demo/balance', { add: -11 })
    await call('POST', '/admin/users/nobody/quota/reset')
    await call('DELETE', '/admin/bots/nobody')
    expect((await call('GET', '/admin/audit')).body).toEqual({ items: [], nextCursor: null, total: 0 })
  })

  it('the audit trail has pages without gaps or repetitions while others write', async () => {
    const { call } = await gateway()
    const write = (count: number, name: string): Promise<Answer[]> =>
      Promise.all(Array.from({ length: count }, (_, index) => call('PUT', `/admin/users/${name}${index}`, {})))
    await write(10, 'a')
    const seen: number[] = []
    let query = '?limit=3'
    for (let page = 0; query !== ''; page++) {
      const [{ body }] = await Promise.all([call('GET', `/admin/audit${query}`), write(2, `p${page}-`)])
      seen.push(...body.items.map(({ seq }: { seq: number }) => seq))
      query = body.nextCursor === null ? '' : `?limit=3&cursor=${body.nextCursor}`
    }
    const newest = seen[0] ?? 0
    expect(newest).toBeGreaterThanOrEqual(10)
    expect(seen).toEqual(Array.from({ length: newest }, (_, index) => newest - index))
    for (const faulty of ['cursor=x', 'cursor=-1', 'limit=0', 'before=1']) {
      expect((await call('GET', `/admin/audit?${faulty}`)).status, faulty).toBe(422)
    }
  })
})
