import { manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AuditLog } from '../src/audit/audit.ts'
import { userIdentifier } from '../src/credentials/identify-user.ts'
import { MAX_TOKENS, Tokens, tokenHash } from '../src/credentials/tokens.ts'
import { openDatabase } from '../src/db/connect.ts'
import type { Db } from '../src/db/schema.ts'
import { UserRepository } from '../src/users/user-repository.ts'
import {
  ADMIN_TOKEN,
  type Answer,
  databaseOf,
  type SendOptions,
  START,
  type TestGateway,
  tempDir,
  testGateway,
} from './support/gateway.ts'

const SYNC = { service: 'sync' } as const

type Call = (method: string, path: string, body?: unknown) => Promise<Answer>

const admin =
  ({ send }: Pick<TestGateway, 'send'>): Call =>
  (method, path, body) =>
    send(method, path, { token: ADMIN_TOKEN, ...(body === undefined ? {} : { body }) } satisfies SendOptions)

async function open(dataDir = tempDir()): Promise<{ db: Db; credentials: Tokens }> {
  const db = await openDatabase({ databaseUrl: undefined, dataDir })
  onTestFinished(() => db.destroy())
  const clock = manualClock(START)
  return { db, credentials: new Tokens({ db, clock, audit: new AuditLog(db, clock) }) }
}

describe('service credentials', () => {
  it('a credential works for one service until it is revoked', async () => {
    const { credentials } = await open()
    const bot = await credentials.issue(SYNC, 'nightly', 'admin')
    const key = await credentials.issue({ service: 'charts' }, 'viewer', 'admin')
    expect([bot.token, key.token]).toEqual([
      expect.stringMatching(/^bt_[\w-]{43}$/),
      expect.stringMatching(/^mk_[\w-]{43}$/),
    ])
    expect(await credentials.holder('sync', bot.token)).toEqual({ id: bot.id, name: 'nightly' })
    expect(await credentials.holder('charts', key.token)).toEqual({ id: key.id, name: 'viewer' })
    expect(await credentials.holder('charts', bot.token)).toBeUndefined()
    expect(await credentials.holder('sync', key.token)).toBeUndefined()
    for (const text of ['', 'bt_', bot.token.slice(0, -1), `${bot.token}=`, bot.token.toUpperCase(), bot.id, '\0']) {
      expect(await credentials.holder('sync', text), text).toBeUndefined()
    }
    const unknown = expect.objectContaining({ code: 'not_found' })
    await expect(credentials.revoke(bot.id, 'admin', { service: 'charts' })).rejects.toEqual(unknown)
    await credentials.revoke(bot.id, 'admin', SYNC)
    await expect(credentials.revoke(bot.id, 'admin', SYNC)).rejects.toEqual(unknown)
    expect(await credentials.holder('sync', bot.token)).toBeUndefined()
  })

  it('a credential of another kind doesn’t work, even if the table says so', async () => {
    const { db, credentials } = await open()
    const row = { user_id: null, label: 'x', last_four: '', created_at: START }
    for (const [index, credential] of ['gw_0123456789', 'mk_0123456789'].entries()) {
      const hash = tokenHash(credential)
      await db
        .insertInto('tokens')
        .values({ ...row, id: `${index}`, service: 'sync', hash })
        .execute()
      expect(await credentials.holder('sync', credential)).toBeUndefined()
    }
    const hash = tokenHash('bt_0123456789')
    await db
      .insertInto('tokens')
      .values({ ...row, id: 'b', service: 'charts', hash })
      .execute()
    for (const service of ['charts', 'sync'] as const) {
      expect(await credentials.holder(service, 'bt_0123456789')).toBeUndefined()
    }
  })

  it('a new demo credential replaces the earlier ones', async () => {
    const { credentials } = await open()
    const own = await credentials.issue(SYNC, 'own', 'admin')
    await credentials.replace('demo', [{ owner: SYNC, token: 'plain-bot-token' }])
    expect(await credentials.holder('sync', 'plain-bot-token')).toMatchObject({ name: 'demo' })
    await credentials.replace('demo', [{ owner: SYNC, token: 'another-bot-token' }])
    expect(await credentials.holder('sync', 'plain-bot-token')).toBeUndefined()
    await Promise.all([1, 2, 3].map(() => credentials.replace('demo', [{ owner: SYNC, token: 'another-bot-token' }])))
    expect((await credentials.list(SYNC)).map(({ label }) => label).sort()).toEqual(['demo', 'own'])
    await credentials.replace('demo', [])
    expect((await credentials.list(SYNC)).map(({ id }) => id)).toEqual([own.id])
  })
})

describe.each([
  ['/admin/bots', /^bt_[\w-]{43}$/],
  ['/admin/chart-keys', /^mk_[\w-]{43}$/],
])('%s', (path, form) => {
  it('an administrator issues, lists and revokes credentials, each shown once', async () => {
    const gateway = await testGateway()
    const call = admin(gateway)
    const before = (await call('GET', path)).body.items
    const issued = await call('POST', path, { name: 'nightly' })
    expect([issued.status, Object.keys(issued.body)]).toEqual([201, ['id', 'token']])
    expect(issued.body.token).toMatch(form)
    const { id, token } = issued.body
    const list = await call('GET', path)
    const createdAt = new Date(START).toISOString()
    const shown = { lastFour: token.slice(-4), createdAt, lastUsedAt: null, expiresAt: null }
    expect(list.body.items).toContainEqual({ id, name: 'nightly', ...shown })
    expect(JSON.stringify([list.body, databaseOf(gateway.dataDir)])).not.toContain(token)
    expect((await call('DELETE', `${path}/${id}`)).status).toBe(204)
    expect((await call('DELETE', `${path}/${id}`)).status).toBe(404)
    expect((await call('DELETE', `${path}/%00`)).status).toBe(404)
    expect((await call('GET', path)).body.items).toEqual(before)
    expect((await call('POST', path, { name: 'demo' })).status).toBe(422)
  })

  it('a service’s credential is unknown at the gateway', async () => {
    const gateway = await testGateway()
    const { token } = (await admin(gateway)('POST', path, { name: 'x' })).body
    const unknown = await gateway.send('GET', '/me/quota', { token: 'bt_nobody' })
    for (const options of [
      { token },
      { token: null, headers: { 'Bot-Token': token } },
      { token: null, headers: { 'X-API-Key': token } },
    ]) {
      const answer = await gateway.send('GET', '/admin/users', options)
      expect(answer.status).toBe(401)
      if (options.token !== null) expect(answer.body.msg).toBe(unknown.body.msg)
    }
  })
})

describe('fields of credentials', () => {
  it('each service accepts only its own credentials, in any of their fields', async () => {
    const gateway = await testGateway()
    const call = admin(gateway)
    const bot = (await call('POST', '/admin/bots', { name: 'b' })).body.token
    const key = (await call('POST', '/admin/chart-keys', { name: 'k' })).body.token
    const { ports } = gateway.gateway
    const services = [
      { port: ports.sync, field: 'Bot-Token', own: bot },
      { port: ports.charts, field: 'X-API-Key', own: key },
    ]
    const fields = ['Bot-Token', 'X-API-Key', 'Authorization']
    for (const { port, field, own } of services) {
      const texts = new Set<string>()
      for (const credential of [bot, key, ADMIN_TOKEN, 'bt_nobody', 'mk_nobody', 'gw_nobody']) {
        for (const name of fields) {
          const value = name === 'Authorization' ? `Bearer ${credential}` : credential
          const response = await fetch(`http://127.0.0.1:${port}/nowhere`, { headers: { [name]: value } })
          const isOwn = name === field && credential === own
          expect(response.status, `${field}: ${name}`).toBe(isOwn ? 404 : 401)
          if (name === field && !isOwn) {
            const { requestId: _, ...body } = (await response.json()) as Record<string, unknown>
            texts.add(JSON.stringify(body))
          }
        }
      }
      // One and the same for a credential that works elsewhere and for one that works nowhere.
      expect([...texts]).toHaveLength(1)
    }
  })
})

describe('bearer credentials', () => {
  it('a bearer credential’s kind follows from its first letters', async () => {
    const { db, credentials } = await open()
    const users = new UserRepository(db, manualClock(START))
    await users.findOrCreate('erin')
    await credentials.add({ userId: 'erin' }, 'gw_right', '')
    // A row that nothing writes: what does not begin like a gateway token is none.
    await credentials.add({ userId: 'erin' }, 'x.y.z', '')
    const asked: string[] = []
    const identify = userIdentifier(users, credentials, async (token) => {
      asked.push(token)
      return token === 'a.b.c' ? 'fay' : undefined
    })
    expect(await identify('gw_right')).toMatchObject({ id: 'erin' })
    expect(await identify('gw_wrong')).toBeUndefined()
    expect(await identify('x.y.z')).toBeUndefined()
    expect(await identify('a.b.c')).toMatchObject({ id: 'fay', name: 'fay', role: 'player' })
    expect(asked).toEqual(['x.y.z', 'a.b.c'])
  })
})

describe('identifying callers', () => {
  it('callers are identified while others use the writing connection', async () => {
    const { db } = await open()
    const clock = manualClock(START)
    const users = new UserRepository(db, clock)
    const credentials = new Tokens({ db, clock, audit: new AuditLog(db, clock) })
    await users.findOrCreate('erin')
    await credentials.add({ userId: 'erin' }, 'gw_right', '')
    const { token } = await credentials.issue(SYNC, 'nightly', 'admin')
    const found: unknown[] = []
    let asking: Promise<unknown> = Promise.resolve()
    await db.transaction().execute(async (transaction) => {
      await transaction.updateTable('users').set({ name: 'Erin' }).execute()
      const asked = [credentials.user('gw_right'), users.find('erin'), credentials.holder('sync', token)]
      asking = Promise.all(asked.map(async (each) => found.push((await each)?.name)))
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
      // As it was committed last.
      expect(found.sort()).toEqual(['erin', 'erin', 'nightly'])
    })
    await asking
    expect((await users.find('erin'))?.name).toBe('Erin')
  })
})

describe('user tokens', () => {
  const TOKENS = '/admin/users/carol/tokens'

  it('an administrator issues, lists and revokes tokens, also for a new user, and each is shown once', async () => {
    const gateway = await testGateway()
    const call = admin(gateway)
    expect((await call('GET', TOKENS)).status).toBe(404)
    const issued = await call('POST', TOKENS, { label: 'phone 电话' })
    expect([issued.status, Object.keys(issued.body)]).toEqual([201, ['id', 'token']])
    const { id, token } = issued.body
    expect(token).toMatch(/^gw_[\w-]{43}$/)
    expect((await gateway.send('GET', '/me/quota', { token })).status).toBe(200)
    const second = (await call('POST', TOKENS)).body
    const { items } = (await call('GET', TOKENS)).body
    const createdAt = new Date(START).toISOString()
    expect(items).toHaveLength(2)
    const shown = { createdAt, lastUsedAt: null, expiresAt: null }
    expect(items).toContainEqual({ id, label: 'phone 电话', lastFour: token.slice(-4), ...shown })
    expect(items).toContainEqual({ id: second.id, label: '', lastFour: second.token.slice(-4), ...shown })
    expect(JSON.stringify([items, databaseOf(gateway.dataDir)])).not.toContain(token)
    expect((await call('DELETE', `/admin/users/demo/tokens/${id}`)).status).toBe(404)
    expect((await call('DELETE', `${TOKENS}/${id}`)).status).toBe(204)
    expect((await call('DELETE', `${TOKENS}/${id}`)).status).toBe(404)
    expect((await gateway.send('GET', '/me/quota', { token })).status).toBe(401)
    expect((await gateway.send('GET', '/me/quota', { token: second.token })).status).toBe(200)
    for (const path of [`${TOKENS}/%00`, '/admin/users/%00/tokens/x']) {
      expect((await call('DELETE', path)).status).toBe(404)
    }
    expect((await call('GET', '/admin/users/%00/tokens')).status).toBe(404)
    expect((await call('POST', '/admin/users/a%20b/tokens')).body.details).toMatchObject([{ path: 'id' }])
    expect((await call('POST', TOKENS, { label: 'demo' })).status).toBe(422)
  })

  it('a revoked token stops working in every process immediately', async () => {
    const first = await testGateway()
    const second = await testGateway({ dataDir: first.dataDir })
    const { id, token } = (await admin(first)('POST', TOKENS)).body
    expect((await second.send('GET', '/me/quota', { token })).status).toBe(200)
    await admin(first)('DELETE', `${TOKENS}/${id}`)
    expect((await second.send('GET', '/me/quota', { token })).status).toBe(401)
  })

  it('a user has at most fifty tokens, also with concurrent requests', async () => {
    const gateway = await testGateway()
    const call = admin(gateway)
    const answers = await Promise.all(Array.from({ length: MAX_TOKENS + 3 }, () => call('POST', TOKENS)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(MAX_TOKENS)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(new Set(refused.map(({ status, body }) => `${status} ${body.error}`))).toEqual(new Set(['409 conflict']))
    expect(refused[0]?.body.msg).toBe('The user has 50 tokens, the maximum: revoke one first.')
    const { id } = (await call('GET', TOKENS)).body.items[0]
    await call('DELETE', `${TOKENS}/${id}`)
    expect((await call('POST', TOKENS)).status).toBe(201)
  })
})
