import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type ClientHttp2Session, connect, createSecureServer, createServer as createServer2 } from 'node:http2'
import { createServer as createTlsServer, request as tlsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { TEST_CERTIFICATE } from '@scoregw/server-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type HttpAdapter, type HttpMeterOptions, httpMeter, watchResponse } from '../src/http.ts'
import { createQuota, memoryStore } from '../src/index.ts'
import type { AsyncStore, QuotaStore } from '../src/store.ts'
import { asyncStore } from './support.ts'

/** Node's own messages, of either protocol. */
type Req = IncomingMessage
type Res = ServerResponse

const NODE: HttpAdapter<Req> = {
  name: 'test',
  method: ({ method = 'GET' }) => method,
  languages: ({ headers }) => headers['accept-language'],
  connection: (req) => req,
}

/** How a handler writes a response. */
type Writing = (res: Res, status: number) => unknown

const sizes = [1, 15, 1_000, 20_000, 200_000]
const textOf = (size: number): string => 'abcdefghij'.repeat(Math.ceil(size / 10)).slice(0, size)

const WRITINGS: readonly (readonly [string, Writing])[] = [
  ...sizes.map((size): readonly [string, Writing] => [
    `end(chunk) of ${size} bytes`,
    (res, status) => res.writeHead(status, { 'x-kept': 'yes' }).end(textOf(size)),
  ]),
  ['end(chunk) with the status alone', (res, status) => Object.assign(res, { statusCode: status }).end('short')],
  ['end() without a body', (res, status) => res.writeHead(status).end()],
  [
    'write, then end(chunk)',
    (res, status) => {
      res.writeHead(status)
      res.write('first,')
      res.end('second')
    },
  ],
  [
    'write and end some time later',
    (res, status) => {
      Object.assign(res, { statusCode: status }).write('first,')
      setTimeout(() => res.end('second'), 5)
    },
  ],
  ['end() with a callback', (res, status) => res.writeHead(status).end('called', () => undefined)],
  ['a pipe', (res, status) => pipeline(Readable.from(sizes.map(textOf)), res.writeHead(status))],
  [
    'flushHeaders, then end',
    (res, status) => {
      Object.assign(res, { statusCode: status }).flushHeaders()
      res.end('flushed')
    },
  ],
  [
    'trailers',
    (res, status) => {
      res.writeHead(status, { trailer: 'x-sum' })
      res.write('body')
      res.addTrailers({ 'x-sum': '4' })
      res.end()
    },
  ],
]

/** A response as a client sees it. */
interface Seen {
  readonly status: number
  readonly kept: string | undefined
  readonly length: string | undefined
  readonly body: string
  readonly trailer: string | undefined
}

/** @param onHead called when the head arrives */
type Ask = (path: string, method: string, onHead?: () => void) => Promise<Seen>

function askOver1(send: typeof request, port: number): Ask {
  return async (path, method) => {
    const asked = send({ host: '127.0.0.1', port, path, method, rejectUnauthorized: false } as object)
    asked.end()
    const [res] = (await once(asked, 'response')) as [IncomingMessage]
    let body = ''
    for await (const chunk of res.setEncoding('utf8')) body += chunk as string
    const { 'x-kept': kept, 'content-length': length } = res.headers as Record<string, string | undefined>
    return { status: res.statusCode ?? 0, kept, length, body, trailer: res.trailers['x-sum'] }
  }
}

function askOver2(session: ClientHttp2Session): Ask {
  return async (path, method, onHead) => {
    const stream = session.request({ ':path': path, ':method': method })
    let trailer: string | undefined
    stream.on('trailers', (fields) => {
      trailer = fields['x-sum'] as string
    })
    stream.end()
    const [fields] = (await once(stream, 'response')) as [Record<string, string>]
    onHead?.()
    let body = ''
    for await (const chunk of stream.setEncoding('utf8')) body += chunk as string
    const { 'x-kept': kept, 'content-length': length } = fields
    return { status: Number(fields[':status']), kept, length, body, trailer }
  }
}

type Serving = (listener: (req: Req, res: Res) => void) => Promise<Ask>

async function listening(server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

function sessionOf(url: string): ClientHttp2Session {
  const session = connect(url, { rejectUnauthorized: false })
  onTestFinished(() => session.destroy())
  return session
}

const PROTOCOLS: readonly (readonly [string, Serving])[] = [
  ['http', async (listener) => askOver1(request, await listening(createServer(listener)))],
  [
    'https',
    async (listener) => askOver1(tlsRequest, await listening(createTlsServer(TEST_CERTIFICATE, listener) as never)),
  ],
  [
    'http2',
    async (listener) =>
      askOver2(sessionOf(`http://127.0.0.1:${await listening(createServer2(listener as never) as never)}`)),
  ],
  [
    'http2 with TLS',
    async (listener) => {
      const server = createSecureServer(TEST_CERTIFICATE, listener as never)
      return askOver2(sessionOf(`https://127.0.0.1:${await listening(server as never)}`))
    },
  ],
]

type Engine = ReturnType<typeof engine>

function engine(store: QuotaStore) {
  return createQuota({ limits: { perHour: { by: 'user', limit: 1_000, per: '1h' } }, store })
}

const used = async (quota: Engine) => (await quota.status('u1')).limits.perHour?.used

/** `/0/404` is the first way to write, with status 404. */
function written(req: Req, res: Res): void {
  const [, writing = '0', status = '200'] = (req.url ?? '').split('/')
  void WRITINGS[Number(writing)]?.[1](res, Number(status))
}

function metered(quota: Engine, settle: HttpMeterOptions<Req>['settle']) {
  const meter = httpMeter({ quota, settle, abortGraceMs: 1, subject: () => 'u1' }, NODE)
  return async (req: Req, res: Res): Promise<void> => {
    const admission = await meter.admit(req, res)
    if (admission.kind !== 'metered') throw new Error(admission.kind)
    watchResponse(admission, req, res)
    written(req, res)
  }
}

describe.each(PROTOCOLS)('responses over %s', (_protocol, serving) => {
  it.each([
    ['outcome', true],
    ['end', true],
    ['outcome', false],
    ['end', false],
  ] as const)('every body is whole and settled: settle %s, asynchronous store: %s', async (settle, isLater) => {
    const store = memoryStore()
    const quota = engine(isLater ? asyncStore(store) : store)
    const plain = await serving(written)
    const ask = await serving(metered(quota, settle))
    let charged = 0
    for (const [at, [name]] of WRITINGS.entries()) {
      for (const [method, status] of [
        ['GET', 404],
        ['HEAD', 404],
        ['GET', 200],
        ['HEAD', 200],
      ] as const) {
        // Node's HTTP/1.1 refuses the field `Trailer` of a response without a body.
        if (method === 'HEAD' && name === 'trailers') continue
        const path = `/${at}/${status}`
        const seen = await ask(path, method)
        expect([name, method, seen]).toEqual([name, method, await plain(path, method)])
        if (status === 200) charged++
        // A hold that HEAD ends is settled after the last byte.
        await expect.poll(() => used(quota), { interval: 1, timeout: 10_000 }).toBe(charged)
      }
    }
    // A pipe to an HTTP/2 response of HEAD never ends, and its hold gets the grace period.
    await expect.poll(async () => (await quota.holds.list('u1')).length, { timeout: 20_000 }).toBe(0)
  })
})

describe.each(PROTOCOLS.slice(2))('a failure over %s', (_protocol, serving) => {
  it('its head arrives when its tokens are back, and not before', async () => {
    const quota = engine(asyncStore(memoryStore()))
    const ask = await serving(metered(quota, 'outcome'))
    for (const method of ['GET', 'HEAD']) {
      expect((await ask('/0/404', method)).status).toBe(404)
      // No wait: the response says that nothing was charged.
      expect(await used(quota)).toBe(0)
    }
  })

  it('its head waits for the store, while other responses pass', async () => {
    let open: () => void = () => undefined
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const inner = asyncStore(memoryStore())
    const store: AsyncStore = {
      ...inner,
      open(schema) {
        const counters = inner.open(schema)
        return { ...counters, settle: (request) => opened.then(() => counters.settle(request)) }
      },
    }
    const ask = await serving(metered(engine(store), 'outcome'))
    let arrived = false
    const failed = ask('/0/404', 'GET', () => {
      arrived = true
    })
    for (let i = 0; i < 3; i++) expect((await ask('/0/200', 'GET')).status).toBe(200)
    expect(arrived).toBe(false)
    open()
    expect((await failed).status).toBe(404)
  })
})
