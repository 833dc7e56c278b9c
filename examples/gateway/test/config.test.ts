import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEFAULTS, loadConfig, NAMES } from '../src/config/config.ts'
import { clusterAddress, redisAddress } from '../src/quota/redis-url.ts'
import { ConfigError } from '../src/start/start-error.ts'

const ROOT = join(import.meta.dirname, '../../..')

function messageOf(env: Record<string, string>): string {
  try {
    loadConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return ''
}

describe('gateway configuration', () => {
  it('every variable has a default, and an empty variable counts as unset', () => {
    const defaults = {
      PORT: 8080,
      SYNC_PORT: 8081,
      CHARTS_PORT: 8082,
      HOST: '127.0.0.1',
      DATA_DIR: join(ROOT, '.data/gateway'),
      DATA_DIR_SHARED: false,
      REDIS_DEADLINE_MS: 1_000,
      QUOTA_FAILURE_POLICY: { read: 'local', write: 'closed' },
      EXPECTED_PROCESSES: 2,
      failurePolicy: { read: { local: { expectedProcesses: 2 } }, write: 'closed' },
      MAX_CONNECTIONS: 800,
      LXNS_BASE_URL: 'https://maimai.lxns.net/api/v0',
      FISH_BASE_URL: 'https://www.diving-fish.com/api/maimaidxprober',
      SOURCE_TIMEOUT_MS: 10_000,
      CORS_ORIGINS: [],
      TRUST_PROXY: false,
      LOG_LEVEL: 'info',
      FAILURE_RATE_PUBLIC: false,
      SUPPORT_FORUM_URL: 'https://forum.example.com/quota',
      NODE_ENV: 'development',
      misspelt: [],
    }
    expect(loadConfig({})).toEqual(defaults)
    expect(loadConfig(Object.fromEntries(NAMES.map((name) => [name, ''])))).toEqual(defaults)
  })

  it('every variable can be set', () => {
    const env = {
      PORT: '0',
      PUBLIC_BASE_URL: 'https://scores.example.com/base/',
      CORS_ORIGINS: 'https://a.example.com, http://localhost:3000',
      TRUST_PROXY: '10.0.0.0/8, ::1',
      NODE_ENV: 'production',
      JWT_SECRET: 'x'.repeat(32),
      SOURCE_TIMEOUT_MS: '100',
      DATABASE_URL: 'postgres://gateway:secret@db.example.com/scores',
      REDIS_URL: 'rediss://user:p%40ss@redis.example.com/3',
      QUOTA_FAILURE_POLICY: ' write = local, read=open ',
      EXPECTED_PROCESSES: '1000',
      REDIS_DEADLINE_MS: '1000',
    }
    expect(loadConfig(env)).toMatchObject({
      PORT: 0,
      PUBLIC_BASE_URL: 'https://scores.example.com/base',
      CORS_ORIGINS: ['https://a.example.com', 'http://localhost:3000'],
      TRUST_PROXY: ['10.0.0.0/8', '::1'],
      NODE_ENV: 'production',
      JWT_SECRET: 'x'.repeat(32),
      SOURCE_TIMEOUT_MS: 100,
      DATABASE_URL: 'postgres://gateway:secret@db.example.com/scores',
      REDIS_URL: 'rediss://user:p%40ss@redis.example.com/3',
      REDIS_DEADLINE_MS: 1_000,
      failurePolicy: { read: 'open', write: { local: { expectedProcesses: 1000 } } },
    })
    expect(loadConfig({ TRUST_PROXY: '2' }).TRUST_PROXY).toBe(2)
  })

  it.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80a'],
    ['HOST', 'a b'],
    ['PUBLIC_BASE_URL', 'scores.example.com'],
    ['PUBLIC_BASE_URL', 'https://scores.example.com/?a=1'],
    ['PUBLIC_BASE_URL', 'https://user:secret@scores.example.com'],
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', 'https://a.example.com/'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['LOG_LEVEL', 'loud'],
    ['FAILURE_RATE_PUBLIC', 'yes'],
    ['DATA_DIR_SHARED', 'yes'],
    ['SUPPORT_FORUM_URL', 'javascript:alert(1)'],
    ['DEMO_USER_TOKEN', 'token'],
    ['DEMO_ADMIN_TOKEN', 'gw_a b'],
    ['NODE_ENV', 'staging'],
    ['REDIS_URL', 'localhost:6379'],
    ['REDIS_URL', 'http://localhost:6379'],
    ['REDIS_URL', 'redis:///3'],
    ['REDIS_URL', 'redis://secret@localhost'],
    ['REDIS_URL', 'redis://:secret%zz@localhost'],
    ['REDIS_URL', 'redis://localhost/cache'],
    ['REDIS_URL', 'redis://localhost/0?keyPrefix=a'],
    ['REDIS_URL', 'redis+cluster://a:7000,b'],
    ['REDIS_URL', 'redis+cluster://a:7000,b:70000/0'],
    ['REDIS_URL', 'redis+cluster://secret@a:7000'],
    ['REDIS_URL', 'redis+cluster://:7000'],
    ['REDIS_URL', 'redis://a:7000,b:7001'],
    ['QUOTA_FAILURE_POLICY', 'closed'],
    ['QUOTA_FAILURE_POLICY', 'read=open'],
    ['QUOTA_FAILURE_POLICY', 'read=maybe,write=closed'],
    ['QUOTA_FAILURE_POLICY', 'read=open,write=closed,read=closed'],
    ['QUOTA_FAILURE_POLICY', 'read=open,write=closed,delete=open'],
    ['QUOTA_FAILURE_POLICY', 'read=open,write=closed,'],
    ['EXPECTED_PROCESSES', '-1'],
    ['EXPECTED_PROCESSES', '1001'],
    ['EXPECTED_PROCESSES', '2.5'],
    ['REDIS_DEADLINE_MS', '9'],
    ['REDIS_DEADLINE_MS', '60001'],
  ])('%s=%s is rejected', (name, value) => {
    const message = messageOf({ [name]: value })
    expect(message).toContain(`  ${name}: expected`)
    expect(message).not.toContain(value)
  })

  it('all faults of the configuration are reported together', () => {
    const message = messageOf({ PORT: 'x', HOST: ' ', LOG_LEVEL: 'x', DEMO_USER_TOKEN: 'x' })
    for (const name of ['PORT', 'HOST', 'LOG_LEVEL', 'DEMO_USER_TOKEN']) expect(message).toContain(`  ${name}: `)
  })

  it('0 processes are rejected', () => {
    expect(messageOf({ EXPECTED_PROCESSES: '0' })).toContain('EXPECTED_PROCESSES: expected')
  })

  it('every fault of the failure policy is reported', () => {
    expect(messageOf({ QUOTA_FAILURE_POLICY: 'read=maybe,delete=open' }).split('\n').slice(1)).toEqual([
      '  QUOTA_FAILURE_POLICY: expected read=closed, read=open or read=local',
      '  QUOTA_FAILURE_POLICY: expected category=policy with the categories read, write',
      '  QUOTA_FAILURE_POLICY: expected a policy for write too',
    ])
  })

  it.each([
    ['redis://localhost', 'localhost:6379'],
    ['rediss://user:secret@redis.example.com:7000/3', 'redis.example.com:7000/3'],
    ['redis://:secret@[::1]/', '[::1]:6379'],
    ['redis+cluster://a:7000,b:7001', 'a:7000,b:7001'],
    ['rediss+cluster://user:secret@a:7000,[::1]:7001/', 'a:7000,[::1]:7001'],
  ])('only the place of %s is shown', (url, shown) => {
    expect(loadConfig({ REDIS_URL: url }).REDIS_URL).toBe(url)
    expect(redisAddress(url)).toBe(shown)
  })

  it('a cluster address is split into its nodes', () => {
    expect(clusterAddress('redis://a:7000')).toBeUndefined()
    expect(clusterAddress('redis+cluster://a:7000')).toEqual({ nodes: [{ host: 'a', port: 7000 }], tls: false })
    expect(clusterAddress('rediss+cluster://user:p%40ss@a:7000,[::1]:7001/')).toEqual({
      nodes: [
        { host: 'a', port: 7000 },
        { host: '::1', port: 7001 },
      ],
      username: 'user',
      password: 'p@ss',
      tls: true,
    })
  })

  it('one token for both users is rejected, and so are demo tokens in production', () => {
    expect(messageOf({ DEMO_USER_TOKEN: 'gw_same', DEMO_ADMIN_TOKEN: 'gw_same' })).toContain(
      'DEMO_ADMIN_TOKEN: must differ',
    )
    expect(messageOf({ NODE_ENV: 'production', DEMO_USER_TOKEN: 'gw_user' })).toContain(
      'DEMO_USER_TOKEN: there is no demo',
    )
  })

  it('JWTs need exactly one way to verify them, and production requires one', () => {
    const secret = { JWT_SECRET: 's'.repeat(32) }
    const keys = { JWKS_URL: 'https://id.example.com/keys' }
    expect(messageOf({ NODE_ENV: 'production' })).toContain('JWT_SECRET: needed with NODE_ENV=production')
    expect(messageOf({ NODE_ENV: 'production', ...keys })).toBe('')
    expect(messageOf({ ...secret, ...keys })).toContain('JWKS_URL: signatures are checked by JWT_SECRET or by JWKS_URL')
    expect(messageOf({ JWT_SECRET: 'short' })).toContain('JWT_SECRET: expected 32 to 512 visible ASCII characters')
    expect(messageOf({ JWT_SECRET: 'short' })).not.toContain('short')
  })

  it.each([
    ['SOURCE_TIMEOUT_MS', '99'],
    ['DATABASE_URL', 'mysql://localhost/scores'],
    ['BOT_TOKEN', 'gw_0123456789'],
    ['CHART_API_KEY', '0123456789'],
    ['METRICS_PORT', '65536'],
  ])('the JWT setting %s=%s is rejected', (name, value) => {
    expect(messageOf({ [name]: value })).toMatch(
      new RegExp(`^The configuration has faults:\n  ${name}: expected [^\n]+$`),
    )
  })

  it('every variable is documented with its default', () => {
    const page = readFileSync(join(ROOT, 'docs/gateway/configuration.md'), 'utf8')
    const rows = [...page.matchAll(/^\| `([A-Z_]+)` +\| (.*?) +\|/gm)].map(([, name, text]) => [name, text])
    const expected = NAMES.map((name) => {
      const shown = DEFAULTS[name]?.replace(`${ROOT}/`, '')
      return [name, shown === undefined || shown === '' ? 'none' : `\`${shown}\``]
    })
    expect(rows).toEqual(expected)
  })
})
