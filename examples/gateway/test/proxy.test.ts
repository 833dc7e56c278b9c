import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { postgresTests } from '@scoregw/postgres-server'
import { redisTests } from '@scoregw/redis-server'
import { freePort, slowTests } from '@scoregw/server-kit'
import { describe, expect, it, vi } from 'vitest'
import { ADMIN_TOKEN, tempDir, USER_TOKEN } from './support/gateway.ts'
import { startNginx } from './support/nginx.ts'
import { testDatabase } from './support/postgres.ts'
import { runGateway } from './support/process.ts'
import { redisServer } from './support/redis.ts'
import { shared } from './support/shared.ts'

const PLENTY = { '1h': 10 ** 9, '5h': 10 ** 9, '1d': 10 ** 9 }
const UNLIMITED = { overrides: { read: PLENTY, write: PLENTY }, bypassSite: true }
/** As the proxy is configured. */
const [PER_SECOND, BURST, IN_PROGRESS] = [50, 100, 100]

interface Sent {
  readonly method?: string
  readonly path: string
  readonly body?: unknown
  /** `null`: none. */
  readonly token?: string | null
}

/** Sends requests from an address of the loopback network, each over a connection of its own. */
function sender(baseUrl: string, localAddress: string) {
  return async ({ method = 'GET', path, body, token = USER_TOKEN }: Sent) => {
    const credential = token === null ? {} : { Authorization: `Bearer ${token}` }
    const headers = { ...credential, 'Content-Type': 'application/json' }
    const sent = request(new URL(path, baseUrl), { method, localAddress, agent: false, headers })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = await once(sent, 'response')
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    return { status: response.statusCode as number, headers: response.headers, text }
  }
}

interface Begun {
  readonly socket: Socket
  /** Resolves to what came, when the connection is closed. */
  readonly closed: Promise<string>
}

/** Opens a connection and sends the beginning of a request. */
async function begin(baseUrl: string, localAddress: string, text: string): Promise<Begun> {
  const socket = connect({ port: Number(new URL(baseUrl).port), host: '127.0.0.1', localAddress })
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  // What is cut may be reset.
  socket.on('error', () => undefined)
  const closed = new Promise<string>((resolve) => void socket.once('close', () => resolve(answer)))
  await once(socket, 'connect')
  socket.write(text)
  return { socket, closed }
}

const HALF_HEAD = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n'
const HALF_BODY = [
  'POST /v1/music/upsert HTTP/1.1',
  'Host: localhost',
  'Content-Type: application/json',
  `Authorization: Bearer ${USER_TOKEN}`,
  'Content-Length: 100',
  '',
  '{"musicList":',
].join('\r\n')

describe.runIf(slowTests && postgresTests && redisTests)('nginx in front of two gateways', () => {
  const site = shared(async () => {
    const [database, redis, ...ports] = await Promise.all([testDatabase(), redisServer(), freePort(), freePort()])
    const env = {
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      DEMO_USER_TOKEN: USER_TOKEN,
      DEMO_ADMIN_TOKEN: ADMIN_TOKEN,
      TRUST_PROXY: '1',
    }
    const start = (port: number) => runGateway(tempDir(), { ...env, PORT: String(port) })
    const gateways = await Promise.all(ports.map(start))
    const { baseUrl, log } = await startNginx(ports.map((port) => `127.0.0.1:${port}`))
    const send = sender(baseUrl, '127.0.0.1')
    await send({ method: 'PUT', path: '/admin/users/demo/quota', token: ADMIN_TOKEN, body: UNLIMITED })
    for (const gateway of gateways) {
      const direct = sender(gateway.baseUrl, '127.0.0.1')
      await vi.waitFor(
        async () => expect((await direct({ path: '/me/quota' })).text).toContain('"limit":1000000000'),
        30_000,
      )
    }
    const restart = async (at: number): Promise<void> => {
      gateways[at]?.process.kill('SIGTERM')
      expect(await gateways[at]?.ended()).toEqual({ code: 0, signal: null })
      gateways[at] = await start(ports[at] as number)
    }
    return { baseUrl, log, restart }
  })

  it('clients that stop in a head, in a body, or while they read are cut, and no gateway waits for them', async () => {
    const { baseUrl, log } = site()
    const from = '127.0.0.2'
    const head = await begin(baseUrl, from, HALF_HEAD)
    const body = await begin(baseUrl, from, HALF_BODY)
    // Far more than the systems' buffers hold.
    const file = '/reference/swagger-ui-bundle.js'
    const reader = await begin(baseUrl, from, `GET ${file} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(40))
    reader.socket.pause()
    expect((await sender(baseUrl, from)({ path: '/me/quota' })).status).toBe(200)

    // Without a 408 if the connection had no complete head.
    expect(await head.closed).toBe('')
    expect(await body.closed).toBe('')
    await expect.poll(log).toContainEqual(expect.stringMatching('^408 /v1/music/upsert'))
    await expect.poll(log).toContainEqual(expect.stringMatching(`^200 ${file} .* cut$`))
    reader.socket.destroy()
  })

  it('an address that floods gets 503 above its share, and others are served', async () => {
    const { baseUrl } = site()
    const [flood, other] = [sender(baseUrl, '127.0.0.3'), sender(baseUrl, '127.0.0.4')]
    const began = performance.now()
    // Without a credential, since the gateway bounds requests of one credential, too.
    const alive = { path: '/healthz', token: null }
    const flooding = Promise.all(Array.from({ length: 400 }, () => flood(alive)))
    for (let count = 0; count < 20; count++) expect((await other(alive)).status).toBe(200)
    const answers = await flooding
    const seconds = (performance.now() - began) / 1_000
    const admitted = answers.filter(({ status }) => status === 200)
    expect(admitted.length).toBeLessThanOrEqual(1 + BURST + PER_SECOND * seconds)
    expect(admitted.length).toBeGreaterThan(0)
    // By the proxy or, above its own bound of one caller, by a gateway: in one form.
    for (const { status, headers, text } of answers.filter((answer) => answer.status !== 200)) {
      expect([status, headers['retry-after']]).toEqual([503, '1'])
      expect(JSON.parse(text)).toMatchObject({
        error: 'overloaded',
        msg: expect.any(String),
        requestId: expect.any(String),
      })
    }
  })

  it('an address has so many requests in progress, and others are served', async () => {
    const { baseUrl } = site()
    const begun = await Promise.all(Array.from({ length: IN_PROGRESS }, () => begin(baseUrl, '127.0.0.5', HALF_BODY)))
    const [crowd, other] = [sender(baseUrl, '127.0.0.5'), sender(baseUrl, '127.0.0.6')]
    // The burst is over when the rate refuses nothing any more: what refuses then is the number.
    await expect.poll(async () => (await crowd({ path: '/healthz', token: null })).status).toBe(503)
    expect((await other({ path: '/healthz', token: null })).status).toBe(200)
    for (const { socket } of begun) socket.destroy()
    await expect.poll(async () => (await crowd({ path: '/healthz', token: null })).status).toBe(200)
  })

  it('gateways that restart one after the other lose no read, and nothing is done twice', async () => {
    const { baseUrl, restart } = site()
    const before = await used(baseUrl)
    const isOver = { now: false }
    const count = { reads: 0, writes: 0 }
    const failed: number[] = []
    const client = async (at: number): Promise<void> => {
      const send = sender(baseUrl, `127.0.1.${at}`)
      for (let dxScore = 1; !isOver.now; dxScore++) {
        expect((await send({ path: '/me/quota' })).status).toBe(200)
        count.reads++
        const musicList = [{ musicId: 101, level: 3, achievement: 90, dxScore }]
        const { status } = await send({ method: 'POST', path: '/v1/music/upsert', body: { musicList } })
        if (status === 200) count.writes++
        else failed.push(status)
      }
    }
    const clients = Promise.all([1, 2, 3, 4].map(client))
    for (const at of [0, 1, 0, 1]) await restart(at)
    isOver.now = true
    await clients
    // A write whose connection a stopping gateway had not accepted yet isn't sent again: that could do it twice.
    expect(failed.filter((status) => status !== 502)).toEqual([])
    expect(failed.length).toBeLessThanOrEqual(16)
    expect((await used(baseUrl)) - before).toBe(15 * count.writes)
    expect(count.writes).toBeGreaterThan(20)
  })
})

/** The tokens for writes that are used. */
async function used(baseUrl: string): Promise<number> {
  return JSON.parse((await sender(baseUrl, '127.0.0.1')({ path: '/me/quota' })).text).windows.write[0].used
}
