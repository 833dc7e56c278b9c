import { once } from 'node:events'
import { request } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import {
  ADMIN_TOKEN,
  ENTRY,
  type SendOptions,
  type TestGateway,
  testGateway,
  USER_TOKEN,
  usedOf,
} from './support/gateway.ts'
import { BOT_TOKEN, botOf, recordOf } from './support/sync.ts'

const UPSERT = '/v1/music/upsert'
const LIMIT = 5
const ENV = { FAILURE_LIMIT: String(LIMIT), FAILURE_WINDOW_SECONDS: '60', BOT_TOKEN }
const GOOD = { body: { musicList: [ENTRY] } }
const BAD = { body: { musicList: 5 } }

const TABLE = { '1h': 100, '5h': 100, '1d': 100 }
const LAYER = { read: TABLE, write: TABLE }
const SETTINGS = {
  mode: 'normal',
  base: { personal: LAYER, site: LAYER },
  custom: null,
  site: { enabled: true, multiplier: 1 },
  prices: {},
}

const failing = async ({ send }: Pick<TestGateway, 'send'>, times: number): Promise<number[]> => {
  const statuses: number[] = []
  for (let index = 0; index < times; index++) statuses.push((await send('POST', UPSERT, BAD)).status)
  return statuses
}

/** A request whose head has been sent, and whose body has not. */
async function open({ gateway }: TestGateway) {
  const { hostname, port } = new URL(gateway.addresses.gateway)
  const headers = { Authorization: `Bearer ${USER_TOKEN}`, 'Content-Type': 'application/json', Expect: '100-continue' }
  const sent = request({ hostname, port, path: UPSERT, method: 'POST', headers })
  const answered = once(sent, 'response').then(([response]) => {
    response.resume()
    return response.statusCode as number
  })
  answered.catch(() => undefined)
  sent.flushHeaders()
  await once(sent, 'continue')
  return {
    finish: (body: string) => {
      sent.on('error', () => undefined).end(body)
      return answered
    },
    giveUp: () => void sent.on('error', () => undefined).destroy(),
  }
}

describe('callers whose requests fail', () => {
  it('a caller is refused after a number of failures and admitted again when the window ends', async () => {
    const gateway = await testGateway({ env: ENV })
    const { send, clock } = gateway
    expect(await failing(gateway, LIMIT)).toEqual([422, 422, 422, 422, 422])
    const { status, headers, body } = await send('POST', UPSERT, GOOD)
    expect([status, headers.get('Retry-After')]).toEqual([429, '60'])
    expect(headers.get('X-Quota-Reset')).toBe('2026-08-06T14:07:26.000Z')
    expect(body).toMatchObject({
      error: 'too_many_failures',
      retryAfterSeconds: 60,
      requestId: headers.get('X-Request-Id'),
    })
    expect(body).not.toHaveProperty('quota')
    expect(body.msg).toBe(
      '5 of your requests failed within 60s, or have no answer yet, and no more may: ' +
        'read their errors, and try again after 2026-08-06 22:07:26 Beijing Time (UTC+8).',
    )
    const chinese = await send('POST', UPSERT, { ...GOOD, headers: { 'Accept-Language': 'zh-CN' } })
    expect(chinese.body.msg).toContain('您在 60s 内有 5 个请求出错或尚未完成')
    // Everything of theirs is refused, also what costs nothing; no one else is.
    expect((await send('GET', '/me/quota')).status).toBe(429)
    expect((await send('GET', '/me/quota', { token: ADMIN_TOKEN })).status).toBe(200)
    expect((await send('GET', '/healthz')).status).toBe(200)
    clock.advance(60_000)
    expect((await send('POST', UPSERT, GOOD)).status).toBe(200)
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 15 })
  })

  it('concurrent requests get no more tries than sequential ones', async () => {
    const gateway = await testGateway({ env: ENV })
    const opened = await Promise.all(Array.from({ length: 4 * LIMIT }, () => open(gateway)))
    // By now the gateway has read each head.
    expect((await gateway.send('GET', '/me/quota', { token: ADMIN_TOKEN })).status).toBe(200)
    const statuses = await Promise.all(opened.map(({ finish }) => finish('{"musicList":5}')))
    expect(statuses.sort()).toEqual([...Array(LIMIT).fill(422), ...Array(3 * LIMIT).fill(429)])
  })

  it('a request that its caller aborts is charged as a failure', async () => {
    const gateway = await testGateway({ env: { ...ENV, FAILURE_LIMIT: '1' } })
    const { send, clock } = gateway
    const { giveUp } = await open(gateway)
    giveUp()
    await expect.poll(async () => (await send('GET', '/me/quota')).status).toBe(429)
    clock.advance(60_000)
    expect((await send('GET', '/me/quota')).status).toBe(200)
  })

  it('successful requests are given back', async () => {
    const { send } = await testGateway({ env: { ...ENV, FAILURE_LIMIT: '1' } })
    for (let index = 0; index < 5; index++) expect((await send('GET', '/me/quota')).status).toBe(200)
  })

  it('a refused caller is answered before its body is read', async () => {
    const gateway = await testGateway({ env: ENV })
    await failing(gateway, LIMIT)
    const { hostname, port } = new URL(gateway.gateway.addresses.gateway)
    const status = await new Promise((resolve, reject) => {
      const headers = { Authorization: 'Bearer gw_test-user-0123456789', 'Content-Length': 1_000 }
      const sent = request({ hostname, port, path: UPSERT, method: 'POST', headers }, ({ statusCode }) => {
        resolve(statusCode)
        sent.destroy()
      })
      sent.on('error', reject).flushHeaders()
    })
    expect(status).toBe(429)
  })

  it('repeated refusals are answered without further work while they hold', async () => {
    const gateway = await testGateway({ env: ENV })
    const { send, clock } = gateway
    await failing(gateway, LIMIT)
    const answered = async (options: SendOptions = {}, method = 'POST', path = UPSERT) => {
      const { status, headers, body: answer } = await send(method, path, { ...GOOD, ...options })
      const { date: _, 'content-length': _length, ...others } = Object.fromEntries(headers)
      const { 'x-request-id': id, 'keep-alive': _kept, ...fields } = others
      const { requestId, ...body } = answer
      expect(requestId).toBe(id)
      return { status, fields, body, id }
    }
    const chinese = { headers: { 'Accept-Language': 'zh-CN' } }
    const of = ({ id: _, ...rest }: Awaited<ReturnType<typeof answered>>) => rest
    const logged = (): number => gateway.log.filter((line) => line.includes('"status":429')).length
    const first = [await answered(), await answered(chinese)].map(of)
    // A line is written when the answer has gone, which may be here by then.
    await expect.poll(logged).toBe(2)
    // Within a second of the machine's time, once it has one for seven requests.
    const repeated = async (): Promise<void> => {
      const before = logged()
      for (let index = 0; index < 3; index++) expect([await answered(), await answered(chinese)].map(of)).toEqual(first)
      expect(await answered({ headers: { 'X-Request-Id': 'mine' } })).toMatchObject({ ...first[0], id: 'mine' })
      expect(logged()).toBe(before)
    }
    await vi.waitFor(repeated, { timeout: 60_000 })
    // Public paths stay open, and so do pages.
    expect((await send('GET', '/healthz')).status).toBe(200)
    const page = await fetch(gateway.gateway.addresses.gateway, {
      headers: { Accept: 'text/html', Authorization: `Bearer ${USER_TOKEN}` },
    })
    expect(page.status).toBe(200)
    clock.advance(1)
    expect(of(await answered())).toEqual(first[0])
    clock.advance(999)
    const { fields, body } = await answered()
    expect([fields['retry-after'], body.retryAfterSeconds]).toEqual(['59', 59])
    const timesLogged = (): number[] =>
      gateway.log.flatMap((line) => Number(/"times":(\d+).*requests refused again/.exec(line)?.[1] ?? []))
    // Four within that second, and more where the machine was fast.
    await expect.poll(() => Math.max(...timesLogged())).toBeGreaterThanOrEqual(4)
    // Nobody any more, which is noticed within a second.
    const { body: tokens } = await send('GET', '/admin/users/demo/tokens', { token: ADMIN_TOKEN })
    await send('DELETE', `/admin/users/demo/tokens/${tokens.items[0].id}`, { token: ADMIN_TOKEN })
    clock.advance(1_000)
    expect((await answered()).status).toBe(401)
  })

  it.each([
    ['400', UPSERT, { text: '{' }, 400],
    ['413', UPSERT, { text: '[]', headers: { 'Content-Length': '9999999' } }, 413],
    ['415', UPSERT, { text: '{}', headers: { 'Content-Encoding': 'br' } }, 415],
    ['422', UPSERT, BAD, 422],
  ] as const)('%s counts as a failure', async (_name, path, options, wanted) => {
    const { send } = await testGateway({ env: { ...ENV, FAILURE_LIMIT: '1' } })
    if (wanted === 413) expect((await send('POST', path, { body: { pad: 'x'.repeat(1_048_576) } })).status).toBe(413)
    else expect((await send('POST', path, options)).status).toBe(wanted)
    expect((await send('POST', UPSERT, GOOD)).status).toBe(429)
  })

  it('missing documents, lost races, repeated keys and quota refusals don’t count as failures', async () => {
    const { send, gateway } = await testGateway({ env: { ...ENV, FAILURE_LIMIT: '1' } })
    const admin = { token: ADMIN_TOKEN }
    await gateway.app.quota.subjects.set('demo', { overrides: { write: { '1h': 0 } } })
    const statuses = [
      await send('GET', '/nothing'),
      await send('PATCH', UPSERT),
      await send('GET', '/admin/users'),
      await send('DELETE', '/admin/bots/nobody', admin),
      await send('PUT', '/admin/quota/settings', {
        ...admin,
        headers: { 'If-Match': '"9"' },
        body: SETTINGS,
      }),
      await send('POST', UPSERT, GOOD),
    ].map(({ status }) => status)
    expect(statuses).toEqual([404, 405, 403, 404, 412, 429])
    expect((await send('GET', '/me/quota')).status).toBe(200)
    expect((await send('GET', '/me/quota', admin)).status).toBe(200)
  })
})

describe('unknown callers', () => {
  it('unknown callers share a limit per network, which doesn’t affect valid credentials', async () => {
    const { send } = await testGateway({ env: { ...ENV, TRUST_PROXY: '1' } })
    const from = async (address: string, token: string | null = 'gw_nobody'): Promise<number> =>
      (await send('GET', '/me/quota', { token, headers: { 'X-Forwarded-For': address } })).status
    for (let index = 0; index < LIMIT; index++) expect(await from(`2001:db8:1:200::${index}`)).toBe(401)
    expect(await from('2001:db8:1:2ff::9')).toBe(429)
    expect(await from('2001:db8:1:2ff::9', null)).toBe(429)
    expect(await from('2001:db8:1:300::9')).toBe(401)
    expect(await from('203.0.113.7')).toBe(401)
    expect(await from('2001:db8:1:2ff::9', 'gw_test-user-0123456789')).toBe(200)
  })
})

describe('failures of bots and chart keys', () => {
  it('bots and chart keys have the failure limit too, with responses in their service’s form', async () => {
    const { gateway } = await testGateway({ env: ENV })
    const bot = botOf(gateway.addresses.sync)
    for (let index = 0; index < LIMIT; index++) expect((await bot.sync({ qq: 1 })).status).toBe(422)
    const refused = await bot.sync({ qq: 10_001, records: [recordOf(101)] })
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '60'])
    expect(refused.body).toMatchObject({ error: 'too_many_failures', retryAfterSeconds: 60 })
    expect(refused.body.detail).toBe(refused.body.msg)
  })
})

describe('a failure limit of 0', () => {
  it('a failure limit of 0 disables it', async () => {
    const gateway = await testGateway({ env: { FAILURE_LIMIT: '0' } })
    expect(new Set(await failing(gateway, 100))).toEqual(new Set([422]))
  })
})
