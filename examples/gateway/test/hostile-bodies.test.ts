import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import express from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { gatewayErrorBody } from '../src/http/error-handler.ts'
import { limitInFlight } from '../src/http/in-flight-limit.ts'
import { ADMIN_TOKEN, type Answer, databaseOf, ENTRY, testGateway, USER_TOKEN, usedOf } from './support/gateway.ts'
import { type Hostile, hostileBodies } from './support/hostile.ts'
import { BOT_TOKEN, botOf, manyRecords } from './support/sync.ts'

const UPSERT = '/v1/music/upsert'
/** What a body that requests too much may be refused with. */
const REFUSALS = [400, 413, 415, 422]
/** Score sync serves these: it cuts a long name, and reports a faulty record. */
const FOR_BOTS = ['a text of 1 MiB', 'escapes only']
/** Bytes of a hostile body: enough for more elements than score sync takes. */
const SMALL = 600_000

const packed = ({ encoding }: Hostile): Record<string, string> =>
  encoding === undefined ? {} : { 'Content-Encoding': encoding }

describe('expensive bodies', () => {
  it('an expensive body is rejected and changes nothing', async () => {
    const { gateway, dataDir, send, ...rest } = await testGateway({ env: { BOT_TOKEN } })
    const bot = botOf(gateway.addresses.sync)
    const before = [databaseOf(dataDir), await usedOf({ send })]
    for (const hostile of hostileBodies(SMALL)) {
      const options = { text: hostile.bytes, headers: packed(hostile) }
      for (const answer of await Promise.all([
        send('POST', UPSERT, options),
        send('PUT', '/admin/quota/settings', {
          ...options,
          token: ADMIN_TOKEN,
          headers: { ...packed(hostile), 'If-Match': '"0"' },
        }),
        ...(FOR_BOTS.includes(hostile.name)
          ? []
          : [bot.sync(undefined, { ...options, headers: { ...packed(hostile), 'Bot-Token': BOT_TOKEN } })]),
      ])) {
        expect(REFUSALS, hostile.name).toContain(answer.status)
        expect(JSON.stringify(answer.body).length, hostile.name).toBeLessThan(4_000)
      }
    }
    expect([databaseOf(dataDir), await usedOf({ send })]).toEqual(before)
    expect(rest.log.join('')).not.toContain('unknown key 7')
  })

  it('the error for unknown keys lists five of them, shortened', async () => {
    const { send } = await testGateway()
    const keys = Array.from({ length: 90 }, (_, index) => [`${index}${'k'.repeat(600)}`, 0])
    const { status, body } = await send('PUT', '/admin/quota/settings', {
      token: ADMIN_TOKEN,
      headers: { 'If-Match': '"0"' },
      body: Object.fromEntries(keys),
    })
    expect(status).toBe(422)
    const unknown = body.details.filter(({ msg }: { msg: string }) => msg.startsWith('unknown key; expected '))
    expect(unknown).toHaveLength(5)
    expect(unknown[0].msg).toBe('unknown key; expected mode, base, custom, site, prices')
    expect(body.details).toContainEqual({ path: '', msg: '85 more unknown keys' })
    expect(Math.max(...body.details.map(({ path }: { path: string }) => path.length))).toBe(200)
  })
})

describe('compressed bodies', () => {
  it('only score sync accepts compressed bodies, and only gzip', async () => {
    const { gateway, send } = await testGateway({ env: { BOT_TOKEN } })
    const bot = botOf(gateway.addresses.sync)
    const text = gzipSync(JSON.stringify({ qq: 10_001, records: manyRecords(10) }))
    const headers = { 'Content-Encoding': 'gzip', 'Bot-Token': BOT_TOKEN }
    const stored = await bot.sync(undefined, { text, headers })
    expect([stored.status, stored.body.imported]).toEqual([200, 10])
    const broken = await bot.sync(undefined, { text: text.subarray(0, 60), headers })
    expect([broken.status, broken.body.error]).toEqual([400, 'bad_request'])
    const refusals: Answer[] = [
      await bot.sync(undefined, { text, headers: { ...headers, 'Content-Encoding': 'br' } }),
      await bot.sync(undefined, { text, headers: { ...headers, 'Content-Encoding': 'gzip, gzip' } }),
      await send('POST', UPSERT, { text, headers: { 'Content-Encoding': 'gzip' } }),
    ]
    expect(refusals.map(({ status }) => status)).toEqual([415, 415, 415])
  })
})

describe('requests in flight', () => {
  it('a caller’s requests in flight have a maximum: one more is refused at once, and there is room when one ends', async () => {
    const { gateway, send } = await testGateway()
    // Never the end of their bodies.
    const slow = Array.from({ length: 33 }, () => {
      const sent = request(`${gateway.addresses.gateway}${UPSERT}`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${USER_TOKEN}`,
          'Content-Type': 'application/json',
          'Content-Length': 1_000,
        },
      })
      const answered = once(sent, 'response').then(([answer]) => ({ sent, answer: answer as IncomingMessage }))
      answered.catch(() => undefined)
      sent.on('error', () => undefined).write('{')
      return { sent, answered }
    })
    const { sent: refused, answer } = await Promise.race(slow.map(({ answered }) => answered))
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1'])
    const parts: Buffer[] = await answer.toArray()
    expect(JSON.parse(Buffer.concat(parts).toString())).toMatchObject({ error: 'overloaded', retryAfterSeconds: 1 })
    expect((await send('GET', '/me/quota')).status).toBe(503)
    // Others have room, also under the same address.
    const other = { token: ADMIN_TOKEN, body: { musicList: [ENTRY] } }
    expect((await send('POST', UPSERT, other)).status).toBe(200)
    slow.find(({ sent }) => sent !== refused)?.sent.destroy()
    await expect.poll(async () => (await send('GET', '/me/quota')).status).toBe(200)
    for (const { sent } of slow) sent.destroy()
  })

  it('callers without a credential are told apart by their own address, also behind a proxy', async () => {
    const app = express().set('trust proxy', 1)
    let waiting = 0
    app.use(() => void waiting++)
    const server = createServer(limitInFlight(app, 2, gatewayErrorBody)).listen(0, '127.0.0.1')
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const ask = (address: string): Promise<number> =>
      fetch(`http://127.0.0.1:${port}/`, { headers: { 'X-Forwarded-For': address } }).then(
        ({ status }) => status,
        () => 0,
      )
    // The first two stay in flight; one IPv6 caller has all addresses of its /56.
    for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2']) void ask(address)
    await expect.poll(() => waiting).toBe(5)
    expect([await ask('192.0.2.1'), await ask('2001:db8::3')]).toEqual([503, 503])
    void ask('192.0.2.2')
    void ask('192.0.2.3')
    await expect.poll(() => waiting).toBe(7)
  })
})

describe('two credentials in one request', () => {
  it('two credentials in one request are a bad request from any caller', async () => {
    const { gateway } = await testGateway({ env: { BOT_TOKEN } })
    const statusOf = async (url: string, headers: string[]): Promise<number | undefined> => {
      const [answer] = await once(
        request(url, { headers: ['Host', 'a', 'Connection', 'close', ...headers] as never }).end(),
        'response',
      )
      ;(answer as IncomingMessage).resume()
      return (answer as IncomingMessage).statusCode
    }
    const user = ['Authorization', `Bearer ${USER_TOKEN}`]
    const admin = ['Authorization', `Bearer ${ADMIN_TOKEN}`]
    expect(await statusOf(`${gateway.addresses.gateway}/me/quota`, user)).toBe(200)
    expect(await statusOf(`${gateway.addresses.gateway}/me/quota`, [...user, ...admin])).toBe(400)
    expect(await statusOf(`${gateway.addresses.gateway}/admin/quota`, [...user, ...user])).toBe(400)
    const bot = ['Bot-Token', BOT_TOKEN]
    expect(await statusOf(`${gateway.addresses.sync}/api/bot/player/10001`, [...bot, ...bot])).toBe(400)
  })
})
