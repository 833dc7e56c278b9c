import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { ADMIN_TOKEN, databaseOf, ENTRY, type TestGateway, testGateway, USER_TOKEN, usedOf } from './support/gateway.ts'

/** Sends bytes as they are, and gives back all that is answered. */
function raw({ gateway }: TestGateway, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(gateway.ports.gateway, '127.0.0.1', () => socket.write(text))
    socket.setEncoding('utf8').on('data', (part) => {
      answer += part
    })
    socket.on('end', () => resolve(answer)).on('error', reject)
  })
}

describe('health', () => {
  it('the health check is public', async () => {
    const { send } = await testGateway()
    const anybody = { token: null }
    expect((await send('GET', '/v1/health', anybody)).body).toEqual({
      returnCode: 1,
      code: 0,
      msg: 'ok',
      returnMessage: 'ok',
      businessData: { status: 'ok', version: packageJson.version },
    })
    expect((await send('GET', '/healthz', anybody)).body).toEqual({ status: 'alive' })
    expect((await send('GET', '/readyz', anybody)).body).toEqual({ status: 'ready' })
  })
})

describe('every response', () => {
  it('a response has the request id that was sent if it is valid, else a new one', async () => {
    const { send } = await testGateway()
    const idOf = async (id: string): Promise<string | null> =>
      (await send('GET', '/healthz', { headers: { 'X-Request-Id': id } })).headers.get('X-Request-Id')
    expect(await idOf('trace-1.a_B')).toBe('trace-1.a_B')
    for (const id of ['a b', 'x'.repeat(65), '<script>', 'a"b']) expect(await idOf(id)).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('a response has security headers and doesn’t name its software', async () => {
    const { send } = await testGateway()
    const { headers } = await send('GET', '/nope')
    expect(headers.get('X-Powered-By')).toBeNull()
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(headers.get('Content-Security-Policy')).toBe("default-src 'none';frame-ancestors 'none'")
    expect(headers.get('Strict-Transport-Security')).toBeNull()
    const secure = await testGateway({ env: { PUBLIC_BASE_URL: 'https://scores.example.com' } })
    const answer = await secure.send('GET', '/healthz')
    expect(answer.headers.get('Strict-Transport-Security')).toContain('max-age=')
  })

  it('only pages of the configured origins may read a response', async () => {
    const { send } = await testGateway({ env: { CORS_ORIGINS: 'https://app.example.com' } })
    const preflight = {
      token: null,
      headers: { 'Access-Control-Request-Method': 'POST', Origin: 'https://app.example.com' },
    }
    const answer = await send('OPTIONS', '/v1/music/upsert', preflight)
    expect([answer.status, answer.headers.get('Access-Control-Allow-Origin')]).toEqual([204, 'https://app.example.com'])
    const allowed = await send('GET', '/me/quota', { headers: { Origin: 'https://app.example.com' } })
    expect(allowed.headers.get('Access-Control-Expose-Headers')).toContain('Retry-After,X-Quota-Reset')
    const other = await send('GET', '/me/quota', { headers: { Origin: 'https://other.example.com' } })
    expect(other.headers.get('Access-Control-Allow-Origin')).toBeNull()
  })

  it('HEAD has no body, and OPTIONS lists the methods', async () => {
    const { send } = await testGateway()
    const head = await send('HEAD', '/me/quota')
    expect([head.status, head.body]).toEqual([200, undefined])
    const options = await send('OPTIONS', '/admin/users/demo/quota', { token: ADMIN_TOKEN })
    expect([options.status, options.headers.get('Allow')]).toEqual([204, 'GET, HEAD, OPTIONS, PUT'])
  })

  it('a metered response has RateLimit fields', async () => {
    const { send } = await testGateway()
    const { headers } = await send('POST', '/v1/user/music')
    expect(headers.get('RateLimit')).toContain('"personal-read-1h";r=116;t=3600')
  })
})

describe('malformed requests', () => {
  it('a malformed request gets an error in the usual form', async () => {
    const gateway = await testGateway()
    const garbage = await raw(gateway, 'HELLO\r\n\r\n')
    expect(garbage).toMatch(/^HTTP\/1\.1 400 Bad Request/)
    expect(garbage).toContain('"error":"bad_request"')
    const overflow = await raw(gateway, `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Pad: ${'x'.repeat(20_000)}\r\n\r\n`)
    expect(overflow).toMatch(/^HTTP\/1\.1 431 /)
    const twoHosts = await raw(gateway, 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n')
    expect(twoHosts).toMatch(/^HTTP\/1\.1 400 /)
    expect(twoHosts).toContain('"msg":"Send Host once."')
  })
})

describe('many failures', () => {
  it('a caller who failed a hundred times still gets no 429', async () => {
    const { send } = await testGateway()
    for (let failure = 0; failure < 100; failure++) {
      const [status, sent] = [404, await send('GET', '/nowhere')]
      expect(sent.status).toBe(status)
      expect((await send('GET', '/me/quota', { token: 'gw_wrong' })).status).toBe(401)
    }
    expect((await send('GET', '/me/quota')).status).toBe(200)
    expect((await send('GET', '/admin/users', { token: ADMIN_TOKEN })).status).toBe(200)
  })
})

describe('the request log', () => {
  it('the log has a line per request without credentials, headers, queries or bodies', async () => {
    const { send, log, dataDir } = await testGateway()
    const token = `gw_${'S'.repeat(43)}`
    await send('POST', '/v1/music/upsert?secret=in-the-query', { body: { musicList: [ENTRY], qrcode: 'in-the-body' } })
    await send('POST', '/v1/music/upsert', { text: '{"musicList": in-the-body' })
    await send('GET', '/me/quota', { token, headers: { Cookie: 'session=in-a-header' } })
    await send('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })
    const text = log.join('')
    for (const secret of [
      USER_TOKEN,
      ADMIN_TOKEN,
      token,
      'gw_',
      'in-the-query',
      'in-the-body',
      'in-a-header',
      'Bearer',
    ]) {
      expect(text).not.toContain(secret)
    }
    const lines = log.map((line) => JSON.parse(line) as Record<string, unknown>)
    const requests = lines.filter(({ msg }) => msg === 'request')
    expect(requests.map(({ method, path, status, userId }) => [method, path, status, userId])).toEqual([
      ['POST', '/v1/music/upsert', 200, 'demo'],
      ['POST', '/v1/music/upsert', 400, 'demo'],
      ['GET', '/me/quota', 401, undefined],
      ['GET', '/admin/quota/settings', 200, 'admin'],
    ])
    expect(JSON.stringify(databaseOf(dataDir))).not.toContain('gw_')
  })

  it('the log leaves out credentials that are logged by mistake', async () => {
    const { createLogger } = await import('../src/log/logger.ts')
    const lines: string[] = []
    const logger = createLogger('info', { write: (line) => lines.push(line) })
    const headers = { authorization: 'secret', cookie: 'secret', host: 'kept' }
    logger.info({ token: 'secret', headers, req: { headers }, user: { password: 'secret' } }, 'said')
    expect(lines.join('')).toContain('kept')
    expect(lines.join('')).not.toContain('secret')
  })
})

describe('unexpected errors', () => {
  it('an unexpected error is a logged 500 without details, and its tokens come back', async () => {
    const gateway = await testGateway()
    const { scores } = gateway.gateway.app
    Object.defineProperty(scores, 'upsert', { value: () => Promise.reject(new Error('very internal')) })
    const answer = await gateway.send('POST', '/v1/music/upsert', { body: { musicList: [ENTRY] } })
    expect([answer.status, answer.body.error]).toEqual([500, 'internal_error'])
    expect(JSON.stringify(answer.body)).not.toContain('very internal')
    expect(gateway.log.join('')).toContain('very internal')
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 0 })
  })
})

describe('a stopping gateway', () => {
  it('a stopping gateway answers requests in flight and refuses later ones on the connection', async () => {
    const { gateway } = await testGateway()
    const text = JSON.stringify({ musicList: [ENTRY] })
    const { hostname, port } = new URL(gateway.addresses.gateway)
    const headers = { Authorization: `Bearer ${USER_TOKEN}`, 'Content-Type': 'application/json' }
    let stopped: Promise<void> | undefined
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request(
        {
          hostname,
          port,
          path: '/v1/music/upsert',
          method: 'POST',
          headers: { ...headers, Expect: '100-continue', 'Content-Length': text.length },
        },
        (response) => {
          response.resume().on('end', () => resolve(response.statusCode))
        },
      )
      sent.on('error', reject).on('continue', () => {
        stopped = gateway.stop()
        sent.end(text)
      })
      sent.flushHeaders()
    })
    expect(status).toBe(200)
    await stopped
    await expect(fetch(`${gateway.addresses.gateway}/healthz`)).rejects.toThrow()
  })

  it('a stopping gateway answers 503', async () => {
    const { send, gateway } = await testGateway()
    gateway.app.refuse()
    const { status, body, headers } = await send('GET', '/readyz', { token: null })
    expect([status, body.error, headers.get('Retry-After'), headers.get('Connection')]).toEqual([
      503,
      'shutting_down',
      '5',
      'close',
    ])
  })
})

describe('bodies that aren’t JSON objects', () => {
  it.each([
    ['null', 'null', 'The body is not valid JSON: send an object.'],
    ['a number', ' 5', 'The body is not valid JSON: send an object.'],
    ['an object and more', '{}{', 'The body is not valid JSON: send an object.'],
    ['half an object', '{"musicList":', 'The body is not valid JSON: send an object.'],
    ['no UTF-8', Buffer.from('{"musicList":[],"note":"\xe4"}', 'latin1'), 'The body is not valid UTF-8.'],
    ['half a character', Buffer.from('{"note":"ä"}').fill('"', 10, 11), 'The body is not valid UTF-8.'],
  ])('a body that isn’t a JSON object is rejected with the reason: %s', async (_name, text, msg) => {
    const { send } = await testGateway()
    const { status, body } = await send('POST', '/v1/music/upsert', { text })
    expect([status, body.error, body.msg]).toEqual([400, 'bad_request', msg])
  })
})
