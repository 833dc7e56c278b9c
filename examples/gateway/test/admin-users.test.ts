import { join } from 'node:path'
import { manualClock } from '@scoregw/quota-testkit'
import Database from 'libsql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AuditLog } from '../src/audit/audit.ts'
import { openDatabase } from '../src/db/connect.ts'
import { AdminUsers } from '../src/users/admin-users.ts'
import { ADMIN_TOKEN, type Answer, databaseOf, START, tempDir, testGateway } from './support/gateway.ts'

type Call = (method: string, path: string, body?: unknown) => Promise<Answer>

async function gateway(): Promise<{ call: Call; dataDir: string }> {
  const { send, dataDir } = await testGateway()
  return {
    dataDir,
    call: (method, path, body) => send(method, path, { token: ADMIN_TOKEN, ...(body === undefined ? {} : { body }) }),
  }
}

const idsOf = ({ body }: Answer): string[] => body.items.map(({ id }: { id: string }) => id)

async function everyPage(call: Call, query: string): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: Answer = await call('GET', `/admin/users?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`)
    expect(page.status).toBe(200)
    ids.push(...idsOf(page))
    cursor = page.body.nextCursor
  }
  return ids
}

describe('managing users', () => {
  it('PUT creates and changes a user, and absent members stay unchanged', async () => {
    const { call } = await gateway()
    const createdAt = new Date(START).toISOString()
    const created = await call('PUT', '/admin/users/carol', { name: 'Carol ☆', qq: 123_456_789_012 })
    const known = { id: 'carol', name: 'Carol ☆', role: 'player', disabled: false }
    const carol = { ...known, qq: 123_456_789_012, balance: 10, createdAt }
    expect([created.status, created.body]).toEqual([201, carol])
    const changed = await call('PUT', '/admin/users/carol', { role: 'admin' })
    expect([changed.status, changed.body]).toEqual([200, { ...carol, role: 'admin' }])
    expect((await call('PUT', '/admin/users/carol', { qq: null })).body).toMatchObject({ qq: null, role: 'admin' })
    expect((await call('PUT', '/admin/users/carol')).body).toMatchObject({ name: 'Carol ☆', role: 'admin' })
    expect((await call('PUT', '/admin/users/dave', {})).body).toMatchObject({
      id: 'dave',
      name: 'dave',
      role: 'player',
    })
    expect((await call('GET', '/admin/users?query=carol')).body).toMatchObject({
      items: [{ ...carol, role: 'admin', qq: null }],
      nextCursor: null,
    })
  })

  it('PUT under If-Match changes only the state that was read, and If-None-Match only creates', async () => {
    const { send } = await testGateway()
    const put = (body: object, headers: Record<string, string>): Promise<Answer> =>
      send('PUT', '/admin/users/carol', { token: ADMIN_TOKEN, body, headers })
    const read = (): Promise<Answer> => send('GET', '/admin/users/carol', { token: ADMIN_TOKEN })
    expect((await read()).status).toBe(404)
    expect((await put({ name: 'x' }, { 'If-Match': '*' })).status).toBe(412)
    expect((await read()).status).toBe(404)

    const created = await put({ name: 'Carol' }, { 'If-None-Match': '*' })
    const etag = created.headers.get('ETag') ?? ''
    expect([created.status, (await read()).headers.get('ETag')]).toEqual([201, etag])
    expect((await put({ name: 'again' }, { 'If-None-Match': '*' })).status).toBe(412)

    // Two who have read the same state: one of them gets a 412.
    const both = await Promise.all(['a', 'b'].map((name) => put({ name }, { 'If-Match': etag })))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412])
    const [won, lost] = both[0]?.status === 200 ? both : both.toReversed()
    expect((await read()).body).toEqual(won?.body)
    expect([lost?.body.error, lost?.headers.get('ETag')]).toEqual(['precondition_failed', won?.headers.get('ETag')])
    expect((await put({ name: 'c' }, { 'If-Match': `"x", ${won?.headers.get('ETag')}` })).status).toBe(200)
    expect((await put({ name: 'd' }, { 'If-Match': 'x' })).status).toBe(400)
    expect((await put({ name: 'd' }, { 'If-None-Match': '"x"' })).status).toBe(400)

    const balance = (body: object): Promise<Answer> =>
      send('POST', '/admin/users/carol/balance', { token: ADMIN_TOKEN, body })
    expect((await balance({ set: 3, from: 9 })).body.error).toBe('precondition_failed')
    expect((await balance({ set: 3, from: 10 })).body.balance).toBe(3)
    expect((await balance({ add: 3, from: 3 })).status).toBe(422)
    // Credits are no part of what administrators have in their form.
    expect((await put({ qq: 12_345 }, { 'If-Match': (await read()).headers.get('ETag') ?? '' })).status).toBe(200)
  })

  it('a user has a score sync account of their own', async () => {
    const { call, dataDir } = await gateway()
    await call('PUT', '/admin/users/carol', { qq: 10_000 })
    const before = databaseOf(dataDir)
    for (const [id, body] of [
      ['dave', { qq: 10_000 }],
      ['demo', { qq: 10_000, name: 'x' }],
    ] as const) {
      const { status, body: answer } = await call('PUT', `/admin/users/${id}`, body)
      expect([status, answer.error, answer.msg]).toEqual([
        409,
        'conflict',
        'The account 10000 is linked to the user carol.',
      ])
    }
    expect(databaseOf(dataDir)).toEqual(before)
    expect((await call('PUT', '/admin/users/carol', { qq: 10_000 })).status).toBe(200)
    await call('PUT', '/admin/users/carol', { qq: null })
    expect((await call('PUT', '/admin/users/demo', { qq: 10_000 })).status).toBe(200)
  })

  it('one of several users who claim an account together gets it', async () => {
    const { call } = await gateway()
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((id) => call('PUT', `/admin/users/${id}`, { qq: 54_321 })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
  })

  it('the last administrator can’t be demoted', async () => {
    const { call } = await gateway()
    const last = await call('PUT', '/admin/users/admin', { role: 'player' })
    expect([last.status, last.body.error]).toEqual([409, 'conflict'])
    expect(last.body.msg).toBe('This is the last administrator: give another user the role first.')
    await call('PUT', '/admin/users/carol', { role: 'admin' })
    const both = await Promise.all(
      ['admin', 'carol'].map((id) => call('PUT', `/admin/users/${id}`, { role: 'player' })),
    )
    // The one who gave up the role first may be the one who calls: the second call is then nobody's.
    expect([403, 409]).toContain(Math.max(...both.map(({ status }) => status)))
  })

  it('the link listener is notified after a link is stored and when it is stored again', async () => {
    const dataDir = tempDir()
    const db = await openDatabase({ databaseUrl: undefined, dataDir })
    onTestFinished(() => db.destroy())
    const clock = manualClock(START)
    const links: unknown[] = []
    const onLinked = async (userId: string, qq: number): Promise<void> => {
      links.push([userId, qq, (await db.selectFrom('users').select('qq').where('id', '=', userId).execute())[0]?.qq])
      if (links.length === 1) throw new Error('not now')
    }
    const users = new AdminUsers({ db, clock, audit: new AuditLog(db, clock), onLinked })
    await expect(users.put('carol', { qq: 10_000 }, 'admin')).rejects.toThrow('not now')
    await users.put('carol', { qq: 10_000 }, 'admin')
    await users.put('carol', { name: 'Carol' }, 'admin')
    await users.put('carol', { qq: null }, 'admin')
    expect(links).toEqual([
      ['carol', 10_000, 10_000],
      ['carol', 10_000, 10_000],
    ])
  })

  it('a balance can be increased and set, and is never negative', async () => {
    const { call } = await gateway()
    const path = '/admin/users/demo/balance'
    expect((await call('POST', path, { add: 5 })).body).toEqual({ id: 'demo', balance: 15 })
    expect((await call('POST', path, { add: -15 })).body.balance).toBe(0)
    const refused = await call('POST', path, { add: -1 })
    expect([refused.status, refused.body.error]).toEqual([409, 'conflict'])
    expect(refused.body.msg).toBe('The balance is 0: it would become -1, and may be 0 to 1000000000.')
    expect((await call('POST', path, { set: 1_000_000_000 })).body.balance).toBe(1_000_000_000)
    expect((await call('POST', path, { add: 1 })).status).toBe(409)
    expect((await call('POST', path, { set: 7 })).body.balance).toBe(7)
    await Promise.all(Array.from({ length: 10 }, () => call('POST', path, { add: 1 })))
    expect((await call('GET', '/admin/users?query=demo')).body.items[0].balance).toBe(17)
    expect((await call('POST', '/admin/users/nobody/balance', { add: 1 })).status).toBe(404)
    for (const [body, paths] of [
      [{}, ['']],
      [{ add: 1, set: 1 }, ['']],
      [{ set: -1 }, ['set']],
      [{ add: 1.5, sum: 1 }, ['add', 'sum']],
      [{ add: 1e9 + 1 }, ['add']],
      [{ add: '1' }, ['add']],
    ] as const) {
      const { status, body: answer } = await call('POST', path, body)
      expect([status, answer.details.map((each: { path: string }) => each.path).sort()]).toEqual([422, paths])
    }
  })
})

describe('listing users', () => {
  it('the list of users finds ids and names by their beginning, takes wildcards literally, and has pages', async () => {
    const { call } = await gateway()
    for (const [id, name] of [
      ['alice', '100% Alice'],
      ['bob', 'Bob_1'],
      ['carol', '小明'],
      ['BOBBY', 'x!y'],
    ]) {
      await call('PUT', `/admin/users/${id}`, { name })
    }
    const found = async (query: string): Promise<string[]> => {
      return idsOf(await call('GET', `/admin/users?query=${encodeURIComponent(query)}`)).sort()
    }
    expect(await found('BOB')).toEqual(['BOBBY', 'bob'])
    expect(await found('100%')).toEqual(['alice'])
    expect(await found('bob_')).toEqual(['bob'])
    for (const wild of ['%', '_', '*', 'lice', '明', 'nobody']) expect(await found(wild)).toEqual([])
    expect(await found('小')).toEqual(['carol'])
    await call('PUT', '/admin/users/carol', { qq: 45_678 })
    expect(await found('45678')).toEqual(['carol'])
    expect(await found('4567')).toEqual([])
    const all = await everyPage(call, 'limit=100')
    expect([...all].sort()).toEqual(['BOBBY', 'admin', 'alice', 'bob', 'carol', 'demo'])
    for (const limit of [1, 2, 3, 6]) expect(await everyPage(call, `limit=${limit}`)).toEqual(all)
    expect(await everyPage(call, 'limit=1&query=bob')).toHaveLength(2)
    expect((await call('GET', '/admin/users?limit=6')).body.nextCursor).toBeNull()
  })

  it('an invalid query of the list names its faults', async () => {
    const { call } = await gateway()
    for (const [query, paths] of [
      ['limit=0', ['limit']],
      ['limit=101', ['limit']],
      ['limit=ten', ['limit']],
      ['limit=1&limit=2', ['limit']],
      ['cursor=%00', ['cursor']],
      ['cursor=', ['cursor']],
      ['query=%00', ['query']],
      ['cursor=x y&limit=-1&page=2&query=', ['cursor', 'limit', 'page', 'query']],
    ] as const) {
      const { status, body } = await call('GET', `/admin/users?${query}`)
      expect([status, body.details?.map(({ path }: { path: string }) => path).sort()], query).toEqual([422, paths])
    }
  })

  it('the list of ten thousand users is read along an index without sorting', async () => {
    const { call, dataDir } = await gateway()
    const file = new Database(join(dataDir, 'gateway.sqlite'))
    file.exec(`
      with recursive n(i) as (select 0 union all select i + 1 from n where i < 9999)
      insert into users (id, name, role, created_at, touched_at)
      select 'user-' || i, 'Player ' || (i * 7919 % 10000), 'player', 0, 0 from n`)
    const plan = file
      .prepare("explain query plan select id from (select id from users) as found where id > 'a' order by id limit 51")
      .all() as { detail: string }[]
    file.close()
    expect(plan.map(({ detail }) => detail).join(' ')).toMatch(/^SEARCH users USING \S*\s?INDEX \S+ \(id>\?\)$/)
    expect(await everyPage(call, 'query=player%20999&limit=100')).toHaveLength(11)
  })
})
