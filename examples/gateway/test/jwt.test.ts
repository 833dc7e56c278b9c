import { createHmac } from 'node:crypto'
import { manualClock } from '@scoregw/quota-testkit'
import {
  CompactEncrypt,
  type CryptoKey,
  exportSPKI,
  generateKeyPair,
  importJWK,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose'
import { describe, expect, it, vi } from 'vitest'
import { type JwtConfig, jwtVerifier } from '../src/credentials/identify-user.ts'
import { ADMIN_TOKEN, HOUR_MS, START, testGateway, USER_TOKEN } from './support/gateway.ts'
import { type KeyServer, keyServer, type SigningKey, signingKey } from './support/jwks.ts'

const SECRET = 'a-secret-for-tests-of-32-characters-or-more'
const KEY = new TextEncoder().encode(SECRET)
const NOW = START / 1000
/** A busy machine may need long even for a local server. */
const PATIENT_MS = 15_000
/** For servers that say nothing. */
const IMPATIENT_MS = 1_000
const CLAIMS = { sub: 'erin', exp: NOW + 3600 }

function hs256(claims: JWTPayload = CLAIMS, key: Uint8Array = KEY, alg = 'HS256'): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg }).sign(key)
}

function signed({ alg, kid, privateKey }: SigningKey, claims: JWTPayload = CLAIMS): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(privateKey)
}

function verifier(
  config: Partial<JwtConfig>,
  options?: Parameters<typeof jwtVerifier>[2],
): { clock: ReturnType<typeof manualClock>; verify: ReturnType<typeof jwtVerifier> } {
  const clock = manualClock(START)
  const all = { JWT_SECRET: undefined, JWKS_URL: undefined, JWT_ISSUER: undefined, JWT_AUDIENCE: undefined, ...config }
  return { clock, verify: jwtVerifier(all, clock, { timeoutMs: PATIENT_MS, ...options }) }
}

const part = (value: object | string): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** A token whose header and payload are signed as they are, whatever a library would say of them. */
function handmade(header: object, payload: object | string, { b64 = true, key = SECRET } = {}): string {
  const body = b64 ? part(payload) : (payload as string)
  const input = `${part(header)}.${body}`
  return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`
}

describe('JWTs signed with a shared secret', () => {
  it('a valid JWT identifies its sub', async () => {
    const { verify } = verifier({ JWT_SECRET: SECRET })
    expect(await verify(await hs256())).toBe('erin')
    expect(await verify(handmade({ alg: 'HS256', typ: 'JWT' }, CLAIMS))).toBe('erin')
  })

  it('a JWT with any wrong part is rejected', async () => {
    const { verify } = verifier({ JWT_SECRET: SECRET })
    const good = await hs256()
    const [header = '', payload = '', signature = ''] = good.split('.')
    const flipped = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
    const own = await generateKeyPair('ES256')
    const encrypted = await new CompactEncrypt(Buffer.from(JSON.stringify(CLAIMS)))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .encrypt(KEY.slice(0, 32))
    const bad: Record<string, string> = {
      'alg none': new UnsecuredJWT(CLAIMS).encode(),
      'alg none with a signature': `${part({ alg: 'none' })}.${payload}.${signature}`,
      'alg None': `${part({ alg: 'None' })}.${payload}.`,
      'alg missing': handmade({}, CLAIMS),
      'HS512 with the secret': await hs256(CLAIMS, KEY, 'HS512'),
      'ES256 with a foreign key': await new SignJWT(CLAIMS).setProtectedHeader({ alg: 'ES256' }).sign(own.privateKey),
      'a key in the header': handmade({ alg: 'HS256', jwk: { kty: 'oct', k: part('mine') } }, CLAIMS, { key: 'mine' }),
      'another secret': await hs256(CLAIMS, new TextEncoder().encode(`${SECRET}!`)),
      'no secret': handmade({ alg: 'HS256' }, CLAIMS, { key: '' }),
      'a changed payload': `${header}.${part({ ...CLAIMS, sub: 'admin' })}.${signature}`,
      'a changed signature': `${header}.${payload}.${flipped}`,
      'no signature': `${header}.${payload}.`,
      'two parts': `${header}.${payload}`,
      'four parts': `${good}.${signature}`,
      'an encrypted token': encrypted,
      'crit unknown': handmade({ alg: 'HS256', crit: ['exp'], exp: 1 }, CLAIMS),
      'crit empty': handmade({ alg: 'HS256', crit: [] }, CLAIMS),
      'b64 false': handmade({ alg: 'HS256', b64: false, crit: ['b64'] }, JSON.stringify(CLAIMS), { b64: false }),
      'a payload that is no object': handmade({ alg: 'HS256' }, '"erin"'),
      'a payload that is an array': handmade({ alg: 'HS256' }, '[]'),
      'a payload that is no JSON': handmade({ alg: 'HS256' }, '{"sub":'),
      'no sub': await hs256({ exp: CLAIMS.exp }),
      'an empty sub': await hs256({ ...CLAIMS, sub: '' }),
      'a sub of 129 characters': await hs256({ ...CLAIMS, sub: 'x'.repeat(129) }),
      'a sub with a space': await hs256({ ...CLAIMS, sub: 'a b' }),
      'a sub with a slash': await hs256({ ...CLAIMS, sub: 'a/b' }),
      'a sub with a line break': await hs256({ ...CLAIMS, sub: 'erin\n' }),
      'a sub with NUL': await hs256({ ...CLAIMS, sub: 'erin\u0000' }),
      'a sub in other letters': await hs256({ ...CLAIMS, sub: 'érin' }),
      'a sub that is a number': handmade({ alg: 'HS256' }, { ...CLAIMS, sub: 7 }),
      'a sub that is a list': handmade({ alg: 'HS256' }, { ...CLAIMS, sub: ['erin'] }),
      'no exp': await hs256({ sub: 'erin' }),
      'an exp that is a text': handmade({ alg: 'HS256' }, { sub: 'erin', exp: '9999999999' }),
      'an exp that is null': handmade({ alg: 'HS256' }, { sub: 'erin', exp: null }),
      'an nbf that is a text': handmade({ alg: 'HS256' }, { ...CLAIMS, nbf: '0' }),
      'a huge token that is none': 'a'.repeat(8_000),
      'a huge header': handmade({ alg: 'HS256', kid: 'x'.repeat(5_000), x: 1 }, CLAIMS, { key: 'x' }),
      nothing: '',
      dots: '..',
    }
    for (const [name, token] of Object.entries(bad)) expect(await verify(token), name).toBeUndefined()
    expect(await verify(await hs256({ ...CLAIMS, sub: 'x'.repeat(128) }))).toBe('x'.repeat(128))
  })

  it('a JWT is valid from its first to its last millisecond, with 5 s for clock differences', async () => {
    const { clock, verify } = verifier({ JWT_SECRET: SECRET })
    const token = await hs256({ sub: 'erin', nbf: NOW + 60, exp: NOW + 120 })
    clock.set(START + 55_000 - 1)
    expect(await verify(token)).toBeUndefined()
    clock.set(START + 55_000)
    expect(await verify(token)).toBe('erin')
    clock.set(START + 125_000 - 1)
    expect(await verify(token)).toBe('erin')
    clock.set(START + 125_000)
    expect(await verify(token)).toBeUndefined()
  })

  it('a JWT must have the configured issuer and audience', async () => {
    const { verify } = verifier({
      JWT_SECRET: SECRET,
      JWT_ISSUER: 'https://id.example.com',
      JWT_AUDIENCE: 'scores',
    })
    const named = { ...CLAIMS, iss: 'https://id.example.com', aud: 'scores' }
    expect(await verify(await hs256(named))).toBe('erin')
    expect(await verify(await hs256({ ...named, aud: ['others', 'scores'] }))).toBe('erin')
    for (const wrong of [
      CLAIMS,
      { ...named, iss: 'https://id.example.org' },
      { ...named, iss: 'https://id.example.com/' },
      { ...named, aud: 'others' },
      { ...named, aud: [] },
      { ...named, aud: undefined },
      { ...named, iss: undefined },
    ]) {
      expect(await verify(await hs256(wrong as JWTPayload)), JSON.stringify(wrong)).toBeUndefined()
    }
  })

  it('JWTs are rejected without a secret or key address', async () => {
    const { verify } = verifier({})
    expect(await verify(await hs256())).toBeUndefined()
    expect(await verify(await hs256(CLAIMS, new Uint8Array(1)))).toBeUndefined()
  })
})

describe('JWTs signed with a private key', () => {
  async function provider(
    options?: Parameters<typeof jwtVerifier>[2],
  ): Promise<ReturnType<typeof verifier> & { server: KeyServer; key: SigningKey }> {
    const server = await keyServer()
    const key = await signingKey('one')
    server.keys(key.publicJwk)
    return { server, key, ...verifier({ JWKS_URL: server.url }, options) }
  }

  it.each(['ES256', 'EdDSA'])('a JWT signed with %s is valid', async (alg) => {
    const server = await keyServer()
    const key = await signingKey('one', alg)
    server.keys(key.publicJwk)
    const { verify } = verifier({ JWKS_URL: server.url })
    expect(await verify(await signed(key))).toBe('erin')
  })

  it('a public key isn’t accepted as a shared secret', async () => {
    const { server, verify } = await provider()
    const key = await signingKey('one', 'RS256')
    server.keys(key.publicJwk, { kty: 'oct', k: part(SECRET), kid: 'two', alg: 'HS256' })
    expect(await verify(await signed(key))).toBe('erin')
    const pem = await exportSPKI((await importJWK(key.publicJwk, 'RS256', { extractable: true })) as CryptoKey)
    const texts = [pem, pem.trim(), JSON.stringify(key.publicJwk), key.publicJwk.n ?? '']
    for (const text of texts) {
      expect(await verify(handmade({ alg: 'HS256', kid: 'one' }, CLAIMS, { key: text }))).toBeUndefined()
    }
    // A secret among the keys is not accepted.
    expect(await verify(handmade({ alg: 'HS256', kid: 'two' }, CLAIMS))).toBeUndefined()
    expect(await verify(new UnsecuredJWT(CLAIMS).encode())).toBeUndefined()
  })

  it('a JWT with an invalid form or algorithm is rejected without fetching keys', async () => {
    const { server, verify } = await provider()
    for (const token of ['x', 'a.b.c', await hs256(), new UnsecuredJWT(CLAIMS).encode()]) {
      expect(await verify(token)).toBeUndefined()
    }
    expect(server.asked()).toBe(0)
  })

  it('a JWT with a missing, different or foreign key is rejected', async () => {
    const { key, verify } = await provider({ cooldownMs: 0 })
    const [other, sameId] = [await signingKey('two'), await signingKey('one')]
    expect(await verify(await signed(other))).toBeUndefined()
    expect(await verify(await signed(sameId))).toBeUndefined()
    expect(await verify(await signed({ ...(await signingKey('x', 'EdDSA')), kid: 'one' }))).toBeUndefined()
    expect(await verify(await signed(key, { sub: 'erin' }))).toBeUndefined()
    expect(await verify(await signed(key))).toBe('erin')
  })

  it('keys are fetched once for concurrent requests and again for an unknown key', async () => {
    const { server, key, verify } = await provider({ cooldownMs: 0 })
    const token = await signed(key)
    expect(await Promise.all([verify(token), verify(token), verify(token)])).toEqual(['erin', 'erin', 'erin'])
    expect(await verify(token)).toBe('erin')
    expect(server.asked()).toBe(1)
    const next = await signingKey('two')
    server.keys(next.publicJwk)
    expect(await verify(await signed(next))).toBe('erin')
    expect(server.asked()).toBe(2)
    // The key that was taken away is nobody's from then on.
    expect(await verify(token)).toBeUndefined()
  })

  it('unknown keys don’t cause repeated fetches', async () => {
    const { server, verify } = await provider()
    for (let index = 0; index < 5; index++) {
      expect(await verify(await signed(await signingKey(`k${index}`)))).toBeUndefined()
    }
    expect(server.asked()).toBe(1)
  })

  it('keys are refreshed after ten minutes, and old ones are used for an hour if that fails', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: START })
    try {
      const { server, key, clock, verify } = await provider()
      const token = await signed(key, { sub: 'erin', exp: NOW + 9_999 })
      const at = (ms: number): void => {
        clock.set(START + ms)
        vi.setSystemTime(START + ms)
      }
      expect(await verify(token)).toBe('erin')
      at(600_000 - 1)
      expect([await verify(token), server.asked()]).toEqual(['erin', 1])
      at(600_000)
      expect([await verify(token), server.asked()]).toEqual(['erin', 2])
      server.answer((_req, res) => res.writeHead(500).end())
      at(1_200_000)
      expect([await verify(token), server.asked()]).toEqual(['erin', 3])
      // A key that is not among the old ones may be a new one.
      const unknown = await signed(await signingKey('two'), { sub: 'erin', exp: NOW + 9_999 })
      await expect(verify(unknown)).rejects.toMatchObject({ status: 503 })
      at(600_000 + HOUR_MS)
      await expect(verify(token)).rejects.toMatchObject({ status: 503 })
      server.keys((await signingKey('two')).publicJwk)
      at(600_000 + HOUR_MS + 1_000)
      expect(await verify(token)).toBeUndefined()
    } finally {
      vi.useRealTimers()
    }
  })

  it.each<[string, (server: KeyServer) => void, number?]>([
    ['refuses', (server) => server.answer((_req, res) => res.writeHead(503).end())],
    ['hangs up', (server) => server.answer((req) => req.socket.destroy())],
    ['says nothing', (server) => server.answer(() => undefined), IMPATIENT_MS],
    ['begins and says no more', (server) => server.answer((_req, res) => res.write('{"keys":[')), IMPATIENT_MS],
    ['answers HTML', (server) => server.answer((_req, res) => res.end('<html>'))],
    ['answers another document', (server) => server.answer((_req, res) => res.end('{"keys":{}}'))],
    ['sends us elsewhere', (server) => server.answer((_req, res) => res.writeHead(302, { Location: '/x' }).end())],
    [
      'answers without end',
      (server) =>
        server.answer((_req, res) => {
          const more = (): void => {
            while (!res.destroyed && res.write(' '.repeat(65_536)));
          }
          res.on('drain', more)
          more()
        }),
    ],
  ])('a JWT can’t be checked and gets 503, with a soon retry, when the server %s', async (_name, fail, timeoutMs) => {
    const { server, key, clock, verify } = await provider(timeoutMs === undefined ? {} : { timeoutMs })
    const token = await signed(key)
    fail(server)
    const expected = { status: 503, code: 'quota_unavailable', headers: { 'Retry-After': '5' } }
    await expect(verify(token)).rejects.toMatchObject(expected)
    await expect(verify(token)).rejects.toMatchObject(expected)
    // Anybody can send such a token: the server is left alone for a second.
    expect(server.asked()).toBe(1)
    server.keys(key.publicJwk)
    clock.advance(1_000)
    expect(await verify(token)).toBe('erin')
  })
})

describe('the gateway with JWTs', () => {
  it('a JWT admits its bearer, and creates the user on first use', async () => {
    const { send } = await testGateway({ env: { JWT_SECRET: SECRET } })
    const token = await hs256({ ...CLAIMS, role: 'admin', roles: ['admin'], name: 'Erin' })
    const admins = { token: ADMIN_TOKEN }
    const answers = await Promise.all(Array.from({ length: 8 }, () => send('GET', '/me/quota', { token })))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const found = await send('GET', '/admin/users?query=erin', admins)
    expect(found.body.items).toMatchObject([{ id: 'erin', name: 'erin', role: 'player', balance: 10 }])
    expect((await send('GET', '/admin/users', { token })).status).toBe(403)
    await send('PUT', '/admin/users/erin', { ...admins, body: { role: 'admin' } })
    expect((await send('GET', '/admin/users', { token })).status).toBe(200)
    // The ids of both are one account.
    expect((await send('GET', '/admin/users', { token: await hs256({ ...CLAIMS, sub: 'admin' }) })).status).toBe(200)
    expect((await send('GET', '/me/quota')).status).toBe(200)
  })

  it('an invalid JWT creates no user and gets no reason', async () => {
    const { send } = await testGateway({ env: { JWT_SECRET: SECRET } })
    const expired = await hs256({ sub: 'mallory', exp: NOW - 60 })
    for (const token of [expired, new UnsecuredJWT({ ...CLAIMS, sub: 'mallory' }).encode(), `gw_${await hs256()}`]) {
      const { status, body, headers } = await send('GET', '/me/quota', { token })
      expect([status, body.error, body.msg]).toEqual([401, 'unauthorized', 'The credential is not valid.'])
      expect(headers.get('WWW-Authenticate')).toBe('Bearer error="invalid_token"')
    }
    expect((await send('GET', '/admin/users?query=mallory', { token: ADMIN_TOKEN })).body.items).toEqual([])
  })

  it('a gateway without secret or key address accepts no JWT', async () => {
    const { send } = await testGateway()
    expect((await send('GET', '/me/quota', { token: await hs256() })).status).toBe(401)
  })

  it('JWTs get 503 and never 401 while keys can’t be fetched, and gateway tokens still work', async () => {
    const [server, key] = [await keyServer(), await signingKey('one')]
    const { send, clock, log } = await testGateway({ env: { JWKS_URL: server.url } })
    const token = await signed(key)
    const { status, body, headers } = await send('GET', '/me/quota', { token })
    expect([status, body.error, body.retryAfterSeconds, headers.get('Retry-After')]).toEqual([
      503,
      'quota_unavailable',
      5,
      '5',
    ])
    expect(body.msg).toContain("The credential can't be checked right now")
    expect(log.join('')).toContain('the server of the keys answered 500')
    expect((await send('GET', '/me/quota', { token: USER_TOKEN })).status).toBe(200)
    expect((await send('GET', '/me/quota', { token: 'x.y.z' })).status).toBe(401)
    server.keys(key.publicJwk)
    clock.advance(1_000)
    expect((await send('GET', '/me/quota', { token })).status).toBe(200)
  })
})
