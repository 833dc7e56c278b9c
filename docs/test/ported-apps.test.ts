import { createQuota, money } from '@scoregw/quota'
import { quotaMiddleware } from '@scoregw/quota-express'
import { quotaFetch } from '@scoregw/quota-fetch'
import express from 'express'
import Database from 'libsql'
import request from 'supertest'
import { describe, expect, it } from 'vitest'

// Five ways in which existing services limit. Each had a limiter of its own before; each is one policy here.

/** Time that a test moves. */
function testClock() {
  let at = Date.UTC(2026, 7, 6, 12)
  return {
    now: () => at,
    advance(ms: number) {
      at += ms
    },
  }
}

describe('an automation service: how many runs a month a workspace may start is a column of its plan', () => {
  const quota = createQuota({
    clock: testClock(),
    logger: false,
    limits: { runs: { by: 'workspace', limit: 0, per: '30d' }, burst: { by: 'workspace', limit: 100, per: '1m' } },
  })
  const run = (workspace: string, runs: number | null | undefined) =>
    quota.consumeSync({ subject: workspace, limits: { runs } })

  it('a number that is raised from 5 to 6 admits one more run, on the same counter', () => {
    const admitted = Array.from({ length: 7 }, () => run('w1', 5).allowed)
    expect(admitted).toEqual([true, true, true, true, true, false, false])
    expect(run('w1', 6)).toMatchObject({ allowed: true, limits: { runs: { limit: 6, used: 6, from: 'request' } } })
    expect(run('w1', 6).allowed).toBe(false)
    expect(quota.statusSync('w1', { limits: { runs: 4 } }).limits.runs).toMatchObject({ used: 6, remaining: 0 })
  })

  it('a plan without the column has the policy’s number', () => {
    for (const none of [null, undefined]) {
      expect(run('w2', none)).toMatchObject({ allowed: false, retryable: false, refusedBy: { name: 'runs', limit: 0 } })
    }
  })

  it('a number that support has stored for the workspace takes precedence', async () => {
    await quota.subjects.set('w3', { limits: { runs: 1 } })
    expect([run('w3', 5).allowed, run('w3', 5).allowed]).toEqual([true, false])
  })
})

describe('a collaboration service: some callers have no team', () => {
  const quota = createQuota({
    clock: testClock(),
    logger: false,
    limits: {
      mine: { by: 'user', limit: 3, per: '1h' },
      ours: { by: 'team', limit: 4, per: '1h' },
      everybody: { shared: 'service', limit: 100, per: '1h' },
    },
  })
  const ask = (user: string | null, team: string | null) => quota.consumeSync({ subject: { user, team } })

  it('a team’s limit is for its members, and leaves others alone', () => {
    for (const user of ['ann', 'bob', 'ann', 'bob']) expect(ask(user, 'blue').allowed).toBe(true)
    expect(ask('cat', 'blue')).toMatchObject({ allowed: false, refusedBy: { name: 'ours' } })
    const alone = ask('cat', null)
    expect([alone.allowed, Object.keys(alone.limits)]).toEqual([true, ['mine', 'everybody']])
  })

  it('a job of the team has no user', () => {
    expect(ask(null, 'red').allowed).toBe(true)
    expect(Object.keys(ask(null, 'red').limits)).toEqual(['ours', 'everybody'])
  })

  it('a forgotten key is an error that names it', () => {
    const forgotten = { user: 'ann' } as unknown as { user: string; team: string }
    expect(() => quota.consumeSync({ subject: forgotten })).toThrow(/team/)
  })

  it('without any key there is nobody to count, and the middleware answers 401', async () => {
    const app = express().use(quotaMiddleware({ quota, subject: () => ({ user: null, team: null }) }), (_req, res) => {
      res.send('ok')
    })
    expect((await request(app).get('/')).status).toBe(401)
  })
})

describe('a login service: limits are named after routes, and plans after editions', () => {
  const clock = testClock()
  const quota = createQuota({
    clock,
    logger: false,
    limits: {
      '/auth/email': { by: 'ip', limit: 2, per: '1h', for: '/auth/email' },
      '/auth/all': { by: 'ip', limit: 5, per: '5m', for: 'auth' },
      'edge:requests': { by: 'ip', limit: 20, per: '1m' },
    },
    operations: { '/auth/email': { category: 'auth' }, '/auth/token': { category: 'auth' }, '/rest/v1': {} },
    plans: { 'cloud:pro': { '/auth/email': 30, '/auth/all': 100 } },
  })
  const ask = (operation: '/auth/email' | '/auth/token' | '/rest/v1', plan?: 'cloud:pro') =>
    quota.consumeSync({ subject: plan ?? '203.0.113.7', operation, plan })

  it('each route has its limit, beside that of all routes of its kind and of all requests', () => {
    expect([ask('/auth/email').allowed, ask('/auth/email').allowed]).toEqual([true, true])
    expect(ask('/auth/email')).toMatchObject({ allowed: false, refusedBy: { name: '/auth/email' } })
    for (let i = 0; i < 3; i++) expect(ask('/auth/token').allowed).toBe(true)
    expect(ask('/auth/token')).toMatchObject({
      allowed: false,
      refusedBy: { name: '/auth/all' },
      retryAfterSeconds: 300,
    })
    expect(ask('/rest/v1').allowed).toBe(true)
  })

  it('a plan with a colon in its name has other numbers', () => {
    for (let i = 0; i < 6; i++) expect(ask('/auth/email', 'cloud:pro').allowed).toBe(true)
    expect(quota.statusSync('cloud:pro', { plan: 'cloud:pro' }).limits).toMatchObject({
      '/auth/email': { limit: 30, used: 6, from: 'plan' },
      '/auth/all': { limit: 100, used: 6 },
      'edge:requests': { limit: 20, from: 'base' },
    })
  })
})

describe('a model gateway: each API key has numbers of its own', () => {
  /** The keys as the gateway stores them. */
  const keys = new Map([
    ['sk-small', { requestsPerMinute: 2, dollarsPerDay: 1, revoked: false }],
    ['sk-large', { requestsPerMinute: 50, dollarsPerDay: 0.02, revoked: false }],
    ['sk-plain', { requestsPerMinute: null, dollarsPerDay: null, revoked: false }],
  ])
  const usd = money('USD')
  const quota = createQuota({
    clock: testClock(),
    logger: false,
    limits: {
      rpm: { by: 'key', limit: 3, per: '1m' },
      budget: { by: 'key', limit: usd(5), of: usd, per: '1d' },
    },
    operations: { chat: { cost: { usd: usd(0.01) } } },
  })
  const gateway = quotaFetch({
    quota,
    operation: () => 'chat',
    subject: (req) => req.headers.get('authorization')?.replace('Bearer ', ''),
    limits: async (req) => {
      const key = keys.get(req.headers.get('authorization')?.replace('Bearer ', '') ?? '')
      const dollars = key?.dollarsPerDay ?? null
      return { rpm: key?.requestsPerMinute, budget: dollars === null ? null : usd(dollars) }
    },
  })(() => new Response('answer'))
  const statusesOf = async (key: string, count: number): Promise<number[]> => {
    const statuses: number[] = []
    for (let i = 0; i < count; i++) {
      const headers = { authorization: `Bearer ${key}` }
      statuses.push((await gateway(new Request('https://gateway.example/chat', { headers }))).status)
    }
    return statuses
  }

  it('requests and money are limited by the key’s numbers, else by the policy’s', async () => {
    expect(await statusesOf('sk-small', 3)).toEqual([200, 200, 429])
    expect(await statusesOf('sk-large', 3)).toEqual([200, 200, 429])
    expect(await statusesOf('sk-plain', 4)).toEqual([200, 200, 200, 429])
    expect(quota.statusSync('sk-large').limits.budget).toMatchObject({ used: 20_000 })
  })

  it('a key that is blocked gets nothing, until its block ends', async () => {
    await quota.subjects.set('sk-blocked', { blocked: true })
    expect(await statusesOf('sk-blocked', 1)).toEqual([429])
    await quota.subjects.set('sk-blocked', { blocked: false })
    expect(await statusesOf('sk-blocked', 1)).toEqual([200])
  })
})

describe('a shop platform: the numbers of a tenant are a row of the database', () => {
  const db = new Database(':memory:')
  db.exec('create table tenants (name text primary key, per_minute integer, orders_per_day integer)')
  const save = db.prepare('insert or replace into tenants values (?, ?, ?)')
  const find = db.prepare('select per_minute as perMinute, orders_per_day as ordersPerDay from tenants where name = ?')
  const quota = createQuota({
    clock: testClock(),
    logger: false,
    limits: {
      perMinute: { by: 'tenant', limit: 2, per: '1m' },
      ordersPerDay: { by: 'tenant', limit: 1, per: '1d', for: 'order' },
    },
    operations: { order: {}, look: {} },
  })
  const app = express()
  app.use(
    quotaMiddleware({
      quota,
      subject: (req) => req.get('x-tenant'),
      operation: (req) => (req.method === 'POST' ? 'order' : 'look'),
      limits: async (req) => find.get(req.get('x-tenant')) as { perMinute: number; ordersPerDay: number } | undefined,
    }),
    (_req, res) => {
      res.send('ok')
    },
  )
  const order = async (tenant: string) => (await request(app).post('/orders').set('x-tenant', tenant)).status

  it('a changed row applies to the next request, and the counter goes on', async () => {
    save.run('acme', 100, 2)
    expect([await order('acme'), await order('acme'), await order('acme')]).toEqual([200, 200, 429])
    save.run('acme', 100, 3)
    expect([await order('acme'), await order('acme')]).toEqual([200, 429])
    expect(quota.statusSync('acme').limits.ordersPerDay).toMatchObject({ used: 3, limit: 1 })
  })

  it('a tenant without a row has the policy’s numbers, and an empty column too', async () => {
    expect([await order('new'), await order('new')]).toEqual([200, 429])
    save.run('half', null, 3)
    expect([await order('half'), await order('half'), await order('half')]).toEqual([200, 200, 429])
  })
})
