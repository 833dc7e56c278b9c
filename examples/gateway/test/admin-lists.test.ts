import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, type Answer, ENTRY, HOUR_MS, START, type TestGateway, testGateway } from './support/gateway.ts'

const admin = ({ send }: TestGateway, method: string, path: string, body?: unknown): Promise<Answer> =>
  send(method, `/admin/${path}`, { token: ADMIN_TOKEN, ...(body === undefined ? {} : { body }) })

/** Runs a chore of the gateway as its timer does. */
async function run({ gateway }: TestGateway, what: string): Promise<void> {
  const chore = gateway.app.chores.find((each) => each.what === what)
  if (chore === undefined) throw new Error(`no chore ${what}`)
  await chore.run()
}

/** A user with a token. */
async function player(gateway: TestGateway, id: string): Promise<string> {
  return (await admin(gateway, 'POST', `users/${id}/tokens`, {})).body.token
}

describe('lists for administrators', () => {
  it('the list of users has usage, a total, and orders whose pages repeat and skip no one', async () => {
    const gateway = await testGateway()
    const { send, clock } = gateway
    const tokens = { ann: await player(gateway, 'ann'), ben: await player(gateway, 'ben') }
    const upsert = (token: string): Promise<Answer> =>
      send('POST', '/v1/music/upsert', { token, body: { musicList: [ENTRY] } })
    for (let each = 0; each < 6; each++) await upsert(tokens.ann)
    clock.advance(60_000)
    await send('POST', '/v1/user/music', { token: tokens.ben })
    for (let each = 0; each < 7; each++) await admin(gateway, 'PUT', `users/idle-${each}`, {})

    const { body } = await admin(gateway, 'GET', 'users?query=ann')
    expect(body).toMatchObject({
      total: 1,
      items: [
        {
          id: 'ann',
          tokensToday: 60,
          refusalsToday: 2,
          lastSeenAt: new Date(START).toISOString(),
          tightest: { name: 'personal-write-1h', limit: 60, used: 60 },
        },
      ],
    })
    const idle = (await admin(gateway, 'GET', 'users?query=idle-1')).body.items[0]
    expect(idle).toMatchObject({ tokensToday: 0, refusalsToday: 0, lastSeenAt: null })

    const sorted = async (sort: string): Promise<string[]> => {
      const ids: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const page: Answer = await admin(gateway, 'GET', `users?limit=3&sort=${sort}${cursor && `&cursor=${cursor}`}`)
        expect([page.status, page.body.total]).toEqual([200, 11])
        ids.push(...page.body.items.map(({ id }: { id: string }) => id))
        cursor = page.body.nextCursor
      }
      return ids
    }
    const rest = ['admin', 'demo', ...Array.from({ length: 7 }, (_each, index) => `idle-${index}`)]
    expect(await sorted('tokens')).toEqual(['ann', 'ben', ...rest])
    expect(await sorted('refusals')).toEqual(['ann', 'admin', 'ben', ...rest.slice(1)])
    expect(await sorted('lastSeen')).toEqual(['ben', 'ann', ...rest])
    expect(await sorted('id')).toEqual(['admin', 'ann', 'ben', ...rest.slice(1)])

    // Tomorrow nothing was refused today.
    clock.advance(24 * HOUR_MS)
    expect((await admin(gateway, 'GET', 'users?query=ann')).body.items[0]).toMatchObject({
      tokensToday: 0,
      refusalsToday: 0,
      lastSeenAt: new Date(START).toISOString(),
      tightest: { used: 0 },
    })
    for (const query of ['sort=name', 'cursor=eA', `cursor=${Buffer.from('x ann').toString('base64url')}`]) {
      expect([query, (await admin(gateway, 'GET', `users?${query}`)).status]).toEqual([query, 422])
    }
  })

  it('the audit trail is filtered by action, doer and subject, and counted', async () => {
    const gateway = await testGateway()
    const carol = await player(gateway, 'carol')
    await admin(gateway, 'PUT', 'users/carol', { role: 'admin' })
    await gateway.send('PUT', '/admin/users/demo/quota', { token: carol, body: { bypassSite: true } })
    await admin(gateway, 'PUT', 'users/demo/quota', { overrides: { write: { '1h': 5 } } })
    const found = async (query: string): Promise<unknown> => {
      const { items, total } = (await admin(gateway, 'GET', `audit?${query}`)).body
      return [total, ...items.map(({ action, by, subject }: Record<string, string>) => [action, by, subject].join(' '))]
    }
    expect(await found('limit=1')).toEqual([5, 'user-quota.change admin demo'])
    expect(await found('by=carol')).toEqual([1, 'user-quota.change carol demo'])
    expect(await found('subject=demo&action=user-quota.change&limit=1')).toEqual([2, 'user-quota.change admin demo'])
    expect(await found('subject=carol&action=user.change')).toEqual([1, 'user.change admin carol'])
    expect(await found('by=command%20line')).toEqual([0])
    expect((await admin(gateway, 'GET', 'audit?by=%00')).status).toBe(422)
  })

  it('server errors are counted by operation and status in half hours', async () => {
    const gateway = await testGateway()
    const { send, clock } = gateway
    await send('POST', '/v1/update-lx', { body: { accessToken: 'x' } })
    await gateway.gateway.app.db.schema.alterTable('tickets').renameTo('away').execute()
    for (let each = 0; each < 2; each++) expect((await send('POST', '/v1/user/charge')).status).toBe(500)
    await gateway.gateway.app.db.schema.alterTable('away').renameTo('tickets').execute()
    // What fails for administrators and their console isn't traffic.
    await gateway.gateway.app.db.schema.alterTable('audit_entries').renameTo('away').execute()
    expect((await admin(gateway, 'GET', 'audit')).status).toBe(500)
    await gateway.gateway.app.db.schema.alterTable('away').renameTo('audit_entries').execute()
    const found = async (range: string): Promise<unknown> => (await admin(gateway, 'GET', `usage/errors${range}`)).body
    const lastAt = new Date(START).toISOString()
    const failed = { operation: 'POST /v1/user/charge', httpStatus: 500, count: 2, lastAt }
    const all = await found('')
    expect(all).toMatchObject({ items: expect.arrayContaining([failed]) })
    expect(JSON.stringify(all)).not.toContain('/admin/')

    const halfHour = Math.floor(START / (HOUR_MS / 2)) * (HOUR_MS / 2)
    const at = (ms: number): string => new Date(ms).toISOString()
    expect(await found(`?since=${at(halfHour)}&until=${at(halfHour + 1)}`)).toMatchObject({
      items: expect.arrayContaining([failed]),
    })
    expect(await found(`?until=${at(halfHour)}`)).toEqual({ items: [] })
    expect(await found(`?since=${at(halfHour + 1)}`)).toEqual({ items: [] })
    // A week later they are gone with the chart.
    clock.advance(7 * 24 * HOUR_MS + HOUR_MS)
    expect(await found('')).toEqual({ items: [] })
  })
})

describe('rotating credentials', () => {
  it('a rotated token stays valid for the grace, and its successor from the start', async () => {
    const gateway = await testGateway()
    const { send, clock } = gateway
    const old = (await admin(gateway, 'POST', 'users/ann/tokens', { label: 'phone' })).body
    // Later than the first, so that the list has one order.
    clock.advance(1)
    const statusWith = async (token: string): Promise<number> => (await send('GET', '/me/quota', { token })).status
    const list = async (): Promise<ReturnType<typeof JSON.parse>[]> =>
      (await admin(gateway, 'GET', 'users/ann/tokens')).body.items
    expect(await list()).toEqual([
      {
        id: old.id,
        label: 'phone',
        lastFour: old.token.slice(-4),
        createdAt: new Date(START).toISOString(),
        lastUsedAt: null,
        expiresAt: null,
      },
    ])
    const rotate = (grace: number, id: string = old.id): Promise<Answer> =>
      admin(gateway, 'POST', `users/ann/tokens/${id}/rotate`, { graceSeconds: grace })
    const rotated = await rotate(3_600)
    const end = START + 1 + HOUR_MS
    expect([rotated.status, rotated.body.formerExpiresAt]).toEqual([201, new Date(end).toISOString()])
    expect([await statusWith(old.token), await statusWith(rotated.body.token)]).toEqual([200, 200])
    // A second click doesn't issue a second one.
    expect((await rotate(3_600)).body.error).toBe('conflict')
    clock.advance(HOUR_MS - 1)
    expect(await statusWith(old.token)).toBe(200)
    await run(gateway, 'writing uses of tokens')
    expect((await list()).map(({ label, lastUsedAt }) => [label, lastUsedAt])).toEqual([
      ['phone', new Date(end - 1).toISOString()],
      ['phone', new Date(START + 1).toISOString()],
    ])
    clock.advance(1)
    expect([await statusWith(old.token), await statusWith(rotated.body.token)]).toEqual([401, 200])
    expect((await list()).map(({ id }) => id)).toEqual([rotated.body.id])

    // Without a grace the former one ends immediately.
    const next = await rotate(0, rotated.body.id)
    expect([await statusWith(rotated.body.token), await statusWith(next.body.token)]).toEqual([401, 200])
    await run(gateway, 'writing uses of tokens')
    const rows = await gateway.gateway.app.db.selectFrom('tokens').select('id').where('user_id', '=', 'ann').execute()
    expect(rows).toEqual([{ id: next.body.id }])
    const audit = (await admin(gateway, 'GET', 'audit?action=token.rotate')).body
    expect([audit.total, JSON.stringify(audit).includes(next.body.token)]).toEqual([2, false])
    for (const grace of [-1, 604_801, 0.5]) expect((await rotate(grace)).status).toBe(422)
    expect((await rotate(0, 'nothing')).status).toBe(404)
    const demo = (await admin(gateway, 'GET', 'users/demo/tokens')).body.items[0].id
    expect((await admin(gateway, 'POST', `users/demo/tokens/${demo}/rotate`, {})).body.error).toBe('conflict')
  })

  it('a bot and a chart key are rotated in the same way', async () => {
    const gateway = await testGateway()
    const { sync, charts } = gateway.gateway.addresses
    for (const [kind, url, field] of [
      ['bots', `${sync}/api/bot/sync`, 'Bot-Token'],
      ['chart-keys', `${charts}/api/v1/charts`, 'X-API-Key'],
    ] as const) {
      const isKnown = async (token: string): Promise<boolean> =>
        (await fetch(url, { method: kind === 'bots' ? 'POST' : 'GET', headers: { [field]: token } })).status !== 401
      const old = (await admin(gateway, 'POST', kind, { name: 'nightly' })).body
      const rotated = (await admin(gateway, 'POST', `${kind}/${old.id}/rotate`, {})).body
      expect([await isKnown(old.token), await isKnown(rotated.token)]).toEqual([true, true])
      gateway.clock.advance(24 * HOUR_MS)
      expect([await isKnown(old.token), await isKnown(rotated.token)]).toEqual([false, true])
      const { items } = (await admin(gateway, 'GET', kind)).body
      const named = items.filter(({ name }: { name: string }) => name === 'nightly')
      expect(named).toMatchObject([{ id: rotated.id, lastFour: rotated.token.slice(-4) }])
    }
  })
})
