import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listen } from '../src/http/listener.ts'
import { ADMIN_TOKEN, ENTRY, type TestGateway, testGateway, USER_TOKEN, usedOf } from './support/gateway.ts'
import { lateService } from './support/late-service.ts'

const UPSERT = '/v1/music/upsert'
const PAGE = 'https://app.example.com'

interface RawAnswer {
  readonly status: number | undefined
  readonly headers: IncomingMessage['headers']
  readonly bytes: Buffer
}

interface RawOptions {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly agent?: Agent
}

/** A request whose answer is taken as it comes: `fetch` unpacks and hides fields. */
function raw({ gateway }: TestGateway, path: string, options: RawOptions = {}): Promise<RawAnswer> {
  const { method = 'GET', headers = {}, body, agent } = options
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port: gateway.ports.gateway,
        path,
        method,
        ...(agent === undefined ? {} : { agent }),
        headers: { Authorization: `Bearer ${USER_TOKEN}`, 'Content-Type': 'application/json', ...headers },
      },
      (response) => {
        const parts: Buffer[] = []
        response
          .on('data', (part: Buffer) => parts.push(part))
          .on('end', () =>
            resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(parts) }),
          )
      },
    )
    sent.on('error', reject).end(body)
  })
}

const gzip = { 'Accept-Encoding': 'gzip' }

describe('compression', () => {
  it('large responses are compressed on request, with a Vary header', async () => {
    const gateway = await testGateway()
    const plain = await raw(gateway, '/openapi.json')
    expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([undefined, 'Accept-Encoding'])
    const packed = await raw(gateway, '/openapi.json', { headers: gzip })
    expect([packed.headers['content-encoding'], packed.headers.vary]).toEqual(['gzip', 'Accept-Encoding'])
    expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true)
    expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 4)
    const brotli = await raw(gateway, '/openapi.json', { headers: { 'Accept-Encoding': 'br, gzip;q=0.5' } })
    expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true)
    const small = await raw(gateway, '/healthz', { headers: gzip })
    expect(small.headers['content-encoding']).toBeUndefined()
  })

  it('compression changes neither the charge nor its header fields', async () => {
    const gateway = await testGateway()
    const musicList = [102, 103, 10104, 10105, 10106].map((musicId) => ({ ...ENTRY, musicId }))
    const upsert = { method: 'POST', headers: gzip, body: JSON.stringify({ musicList }) }
    const done = await raw(gateway, UPSERT, upsert)
    expect([done.status, done.headers['content-encoding']]).toEqual([200, 'gzip'])
    expect(JSON.parse(gunzipSync(done.bytes).toString()).businessData.results).toHaveLength(5)
    expect(done.headers.ratelimit).toContain('"personal-write-1h";r=45;t=3600')
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 15 })
  })

  it('a compressed failure is sent after its tokens came back', async () => {
    const late = await lateService()
    let hasHead = false
    const answer = late.ask(gzip).finally(() => {
      hasHead = true
    })
    await late.settling
    // Whole other requests go through meanwhile, more than packing takes; of the failed one nothing has left.
    for (let index = 0; index < 20; index++) expect((await fetch(`${late.baseUrl}/nope`)).status).toBe(404)
    expect(hasHead).toBe(false)
    late.settle()
    const { status, headers, bytes } = await answer
    expect([status, headers['content-encoding'], headers['content-length']]).toEqual([422, 'gzip', undefined])
    expect(JSON.parse(gunzipSync(bytes).toString()).details).toHaveLength(50)
    expect(headers.ratelimit).toContain('"personal-write-1h";r=60')
    expect((await late.quota.status('u1')).limits['personal-write-1h']?.used).toBe(0)
  })

  it('a compressed 429 keeps its fields', async () => {
    const gateway = await testGateway({ env: { SUPPORT_FORUM_URL: `https://forum.example.com/${'q'.repeat(2_000)}` } })
    await gateway.gateway.app.quota.subjects.set('demo', { limits: { 'personal-write-1h': 0 } })
    const options = { method: 'POST', headers: gzip, body: JSON.stringify({ musicList: [ENTRY] }) }
    const { status, headers, bytes } = await raw(gateway, UPSERT, options)
    expect([status, headers['content-encoding']]).toEqual([429, 'gzip'])
    expect(JSON.parse(gunzipSync(bytes).toString())).toMatchObject({ error: 'quota_exceeded', retryAfterSeconds: 3600 })
    expect(headers).toMatchObject({
      'retry-after': '3600',
      'x-quota-reset': '2026-08-06T15:06:26.000Z',
      ratelimit: '"personal-write-1h";r=0',
    })
  })
})

describe('chunked bodies', () => {
  it('a chunked body without a length is limited too', async () => {
    const gateway = await testGateway()
    const headers = { 'Transfer-Encoding': 'chunked' }
    const answer = await raw(gateway, UPSERT, { method: 'POST', headers, body: ' '.repeat(1_048_577) })
    expect([answer.status, JSON.parse(answer.bytes.toString()).error]).toEqual([413, 'payload_too_large'])
  })
})

describe('slow clients', () => {
  it('a head or body that takes too long gets 408', async () => {
    const slow = { headMs: 50, requestMs: 100, checkMs: 20, silentMs: 10_000, lingerMs: 10_000 }
    const listener = await listen((req, res) => req.resume().on('end', () => res.end()), '127.0.0.1', 0, { slow })
    onTestFinished(() => listener.stop(0))
    const answerOf = (sent: string): Promise<string> =>
      new Promise((resolve, reject) => {
        let answer = ''
        const socket = connect(listener.port, '127.0.0.1', () => socket.write(sent))
        socket.setEncoding('utf8').on('data', (part) => {
          answer += part
        })
        socket.on('end', () => resolve(answer)).on('error', reject)
      })
    const [head, body] = await Promise.all([
      answerOf('GET / HTTP/1.1\r\nHost: a\r\n'),
      answerOf('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345'),
    ])
    for (const answer of [head, body]) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
      expect(answer).toContain('Connection: close')
      expect(answer).toContain('"error":"bad_request"')
    }
  })
})

describe('pages of another origin', () => {
  const preflight = (
    origin: string,
    path = UPSERT,
  ): [string, string, { token: null; headers: Record<string, string> }] => [
    'OPTIONS',
    path,
    {
      token: null,
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'PUT',
        'Access-Control-Request-Headers': 'authorization,if-match,idempotency-key,content-type',
      },
    },
  ]

  it('a configured origin may send credentials, If-Match and Idempotency-Key and read the quota fields', async () => {
    const { send } = await testGateway({ env: { CORS_ORIGINS: PAGE } })
    const { status, headers } = await send(...preflight(PAGE))
    expect([status, headers.get('Access-Control-Allow-Origin')]).toEqual([204, PAGE])
    expect(headers.get('Access-Control-Allow-Methods')).toBe('GET,HEAD,POST,PUT,DELETE')
    const allowed = headers.get('Access-Control-Allow-Headers')?.toLowerCase().split(',')
    expect(allowed).toEqual(expect.arrayContaining(['authorization', 'if-match', 'idempotency-key', 'content-type']))
    expect(headers.get('Access-Control-Allow-Credentials')).toBeNull()
    const refused = await send('GET', '/me/quota', { token: null, headers: { Origin: PAGE } })
    expect([refused.status, refused.headers.get('Access-Control-Allow-Origin')]).toEqual([401, PAGE])
    expect(refused.headers.get('Access-Control-Expose-Headers')?.split(',')).toEqual(
      expect.arrayContaining(['Retry-After', 'X-Quota-Reset', 'RateLimit', 'RateLimit-Policy', 'ETag', 'X-Request-Id']),
    )
    expect(refused.headers.get('Vary')).toContain('Origin')
  })

  it('another origin gets no permission, with a Vary header', async () => {
    const { send } = await testGateway({ env: { CORS_ORIGINS: PAGE } })
    for (const origin of ['https://other.example.com', 'null', `${PAGE}.evil.example`, 'http://app.example.com']) {
      for (const answer of [
        await send(...preflight(origin)),
        await send('GET', '/me/quota', { headers: { Origin: origin } }),
      ]) {
        const granted = [...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))
        expect(granted, origin).toEqual([])
        expect(answer.headers.get('Vary'), origin).toContain('Origin')
      }
    }
  })

  it('no origin is admitted if none is configured', async () => {
    const { send } = await testGateway()
    const { headers } = await send(...preflight(PAGE))
    expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
  })
})

describe('HTTP methods', () => {
  it('OPTIONS and 405 list a path’s methods, and HEAD is GET without a body', async () => {
    const { send } = await testGateway()
    const admin = { token: ADMIN_TOKEN }
    for (const [path, allow] of [
      [UPSERT, 'OPTIONS, POST'],
      ['/me/quota', 'GET, HEAD, OPTIONS'],
      ['/admin/quota/settings', 'GET, HEAD, OPTIONS, PUT'],
    ] as const) {
      const options = await send('OPTIONS', path, admin)
      expect([options.status, options.headers.get('Allow'), options.body]).toEqual([204, allow, undefined])
      const refused = await send('DELETE', path, admin)
      expect([refused.status, refused.headers.get('Allow')]).toEqual([405, allow])
    }
    const [get, head] = [
      await send('GET', '/admin/quota/settings', admin),
      await send('HEAD', '/admin/quota/settings', admin),
    ]
    expect([head.status, head.body]).toEqual([200, undefined])
    for (const name of ['Content-Type', 'Content-Length', 'ETag', 'Cache-Control', 'Vary']) {
      expect(head.headers.get(name), name).toBe(get.headers.get(name))
    }
  })
})

describe('kept-alive connections', () => {
  it('a kept-alive connection serves many requests, and gets 503 and is closed when the gateway stops', async () => {
    const gateway = await testGateway()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const first = await raw(gateway, '/readyz', { agent })
    const second = await raw(gateway, '/readyz', { agent })
    expect([first.status, second.status, second.headers.connection]).toEqual([200, 200, 'keep-alive'])
    gateway.gateway.app.refuse()
    for (const path of ['/readyz', '/me/quota', '/openapi.json']) {
      const { status, headers, bytes } = await raw(gateway, path, { agent })
      expect([status, headers.connection, headers['retry-after']], path).toEqual([503, 'close', '5'])
      expect(JSON.parse(bytes.toString()), path).toMatchObject({ error: 'shutting_down', retryAfterSeconds: 5 })
    }
  })
})
