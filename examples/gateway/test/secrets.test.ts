import { createServer } from 'node:net'
import { inspect } from 'node:util'
import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../src/config/config.ts'
import { startGateway } from '../src/gateway.ts'
import { createLogger } from '../src/log/logger.ts'
import { ADMIN_TOKEN, type Answer, ENTRY, START, tempDir, testGateway, USER_TOKEN } from './support/gateway.ts'
import { shared } from './support/shared.ts'

const JWT_SECRET = 'jwt-secret-that-nobody-may-see-in-a-log'

/** A port that nothing listens on. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => {
    server.close(resolve)
  })
  return port
}

function jwt(sub: string, exp = START / 1000 + 60): Promise<string> {
  return new SignJWT({ sub, exp }).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(JWT_SECRET))
}

/** What of a secret would give it away: parts of it, as it is and encoded. */
function tracesOf(secret: string): string[] {
  return [secret, secret.slice(-12), Buffer.from(secret).toString('base64url'), encodeURIComponent(secret)]
}

/** Sends every secret to every service in every place, and keeps all answers except those that issue a secret. */
async function sendSecrets() {
  const nowhere = `http://127.0.0.1:${await closedPort()}`
  const { send, log, gateway } = await testGateway({
    env: {
      LOG_LEVEL: 'trace',
      JWT_SECRET,
      LXNS_BASE_URL: nowhere,
      FISH_BASE_URL: nowhere,
      SOURCE_TIMEOUT_MS: '500',
    },
  })
  const secrets: Record<string, string> = {
    'the JWT secret': JWT_SECRET,
    "the demo user's token": USER_TOKEN,
    "the demo administrator's token": ADMIN_TOKEN,
    'an unknown gateway token': 'gw_unknown-to-everybody-0123456789',
    'a JWT': await jwt('erin'),
    'an expired JWT': await jwt('erin', 1),
    'the key of LXNS': 'lxns-personal-key-0123456789',
    'the token of Diving-Fish': 'fish-import-token-0123456789',
    'a QR code': 'SGWCMAID0123456789-qrcode',
    'an idempotency key': 'idempotency-key-0123456789',
    'a password in a query': 'password-in-a-query-0123456789',
    'a cookie': 'session-cookie-0123456789',
  }
  const secret = (name: string): string => secrets[name] as string
  const answers: Answer[] = []
  const tour = async (...args: Parameters<typeof send>): Promise<void> => void answers.push(await send(...args))
  const admin = { token: ADMIN_TOKEN }
  for (const [path, name] of [
    ['/admin/users/erin/tokens', 'an issued token'],
    ['/admin/bots', "a bot's token"],
    ['/admin/chart-keys', 'a chart key'],
  ] as const) {
    const issued = await send('POST', path, { ...admin, body: path.includes('users') ? {} : { name: 'x' } })
    secrets[name] = issued.body.token
  }
  for (const value of Object.values(secrets)) {
    await tour('GET', '/me/quota', { token: value })
    await tour('GET', '/nowhere', { token: null, headers: { 'Bot-Token': value, 'X-API-Key': value } })
    await tour('GET', '/me/quota', { token: null, headers: { Authorization: `Basic ${value}` } })
    await tour('GET', '/me/quota', { headers: { Cookie: `session=${value}` } })
    await tour('POST', '/v1/music/upsert', { text: `{"token":"${value}"` })
    // Short enough for a parser's message to quote it whole.
    await tour('POST', '/v1/music/upsert', { text: `[${value.slice(-12)}` })
    await tour('POST', '/v1/music/upsert', { body: { musicList: [ENTRY], qrcode: value, token: value } })
    await tour('POST', '/v1/user/music', { body: { [value]: value }, headers: { 'Idempotency-Key': value } })
    for (const port of [gateway.ports.sync, gateway.ports.charts]) {
      const headers = { 'Bot-Token': value, 'X-API-Key': value, Authorization: `Bearer ${value}` }
      const response = await fetch(`http://127.0.0.1:${port}/nowhere?key=${value}`, { headers })
      answers.push({ status: response.status, headers: response.headers, body: await response.text() })
    }
  }
  await tour('POST', '/v1/update-lx', { body: { key: secret('the key of LXNS') } })
  await tour('POST', '/v1/update-fish', { body: { token: secret('the token of Diving-Fish') } })
  await tour('POST', '/v1/update-lx', { body: { key: [secret('the key of LXNS')], more: 1 } })
  await tour('GET', `/me/quota?token=${secret('a password in a query')}`)
  await tour('POST', '/v1/charge', {
    body: { chargeId: 2 },
    headers: { 'Idempotency-Key': secret('an idempotency key') },
  })
  await tour('POST', '/admin/bots', { ...admin, body: { name: 5, token: secret("a bot's token") } })
  return { secrets, answers, log }
}

describe('secrets in requests', () => {
  const sent = shared(sendSecrets)

  function expectNone(texts: readonly string[]): void {
    for (const [name, value] of Object.entries(sent().secrets)) {
      for (const trace of tracesOf(value)) for (const text of texts) expect(text, name).not.toContain(trace)
    }
  }

  it('requests with secrets meet rejected credentials, unreachable sources and a full log', () => {
    const { answers, log } = sent()
    expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThan(20)
    expect(answers.some(({ status }) => status === 502)).toBe(true)
    expect(log.length).toBeGreaterThan(50)
  })

  it('no secret in a request is logged', () => expectNone(sent().log))

  it('no secret in a request is in the body of an error', () => {
    const { answers } = sent()
    expectNone(answers.filter(({ status }) => status >= 400).map(({ body }) => JSON.stringify(body)))
  })

  it('no secret in a request is in a response header', () => {
    expectNone(sent().answers.map(({ headers }) => JSON.stringify([...headers])))
  })
})

describe('secrets in the configuration', () => {
  it('no secret is logged when Redis doesn’t answer', async () => {
    const password = 'redis-password-not-to-be-seen'
    const REDIS_URL = `redis://user:${password}@127.0.0.1:${await closedPort()}`
    const { send, log } = await testGateway({ env: { LOG_LEVEL: 'trace', REDIS_URL } })
    const answers = [await send('GET', '/me/quota'), await send('GET', '/readyz', { token: null })]
    expect(answers.map(({ status }) => status)).toEqual([503, 503])
    expect(log.join('')).toContain('Redis')
    for (const text of [...log, ...answers.map(({ body }) => JSON.stringify(body))]) {
      expect(text).not.toContain(password)
    }
  })

  it('no secret is printed when the gateway can’t start', async () => {
    const password = 'postgres-password-not-to-be-seen'
    const port = await closedPort()
    const log: string[] = []
    const faulty = { JWT_SECRET: 'short-secret', DATABASE_URL: `mysql://user:${password}@db/x`, NODE_ENV: 'production' }
    const printed = [
      await startGateway(
        loadConfig({ DATABASE_URL: `postgres://user:${password}@127.0.0.1:${port}/db`, DATA_DIR: tempDir() }),
        createLogger('trace', { write: (line) => void log.push(line) }),
      ).then(
        () => '',
        (error: unknown) => inspect(error, { depth: 10, showHidden: true }),
      ),
      ((): string => {
        try {
          loadConfig(faulty)
          return ''
        } catch (error) {
          return inspect(error, { depth: 10, showHidden: true })
        }
      })(),
    ]
    for (const text of [...printed, ...log]) {
      expect(text).not.toBe('')
      for (const secret of [password, faulty.JWT_SECRET]) expect(text).not.toContain(secret)
    }
  })
})
