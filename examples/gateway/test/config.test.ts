import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../src/config/config.ts'
import { ConfigError } from '../src/config/config-error.ts'
import { redisAddress } from '../src/config/redis-url.ts'
import { VARIABLES } from '../src/config/variables.ts'

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

describe('the configuration', () => {
  it('has a default for everything; an empty variable counts as not set', () => {
    const defaults = {
      port: 8080,
      host: '127.0.0.1',
      publicBaseUrl: undefined,
      dataDir: join(ROOT, '.data/gateway'),
      redisUrl: undefined,
      failurePolicy: { read: { local: { expectedProcesses: 2 } }, write: 'closed' },
      corsOrigins: [],
      trustProxy: false,
      logLevel: 'info',
      supportForumUrl: 'https://forum.example.com/quota',
      demo: { userToken: undefined, adminToken: undefined },
    }
    expect(loadConfig({})).toEqual(defaults)
    expect(loadConfig(Object.fromEntries(Object.keys(VARIABLES).map((name) => [name, ''])))).toEqual(defaults)
  })

  it('takes what is given', () => {
    const env = {
      PORT: '0',
      PUBLIC_BASE_URL: 'https://scores.example.com/base/',
      CORS_ORIGINS: 'https://a.example.com, http://localhost:3000',
      TRUST_PROXY: '10.0.0.0/8, ::1',
      NODE_ENV: 'production',
      REDIS_URL: 'rediss://user:p%40ss@redis.example.com/3',
      QUOTA_FAILURE_POLICY: ' write = local, read=open ',
      EXPECTED_PROCESSES: '1000',
    }
    expect(loadConfig(env)).toMatchObject({
      port: 0,
      publicBaseUrl: 'https://scores.example.com/base',
      corsOrigins: ['https://a.example.com', 'http://localhost:3000'],
      trustProxy: ['10.0.0.0/8', '::1'],
      demo: undefined,
      redisUrl: 'rediss://user:p%40ss@redis.example.com/3',
      failurePolicy: { read: 'open', write: { local: { expectedProcesses: 1000 } } },
    })
    expect(loadConfig({ TRUST_PROXY: '2' }).trustProxy).toBe(2)
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
    ['QUOTA_FAILURE_POLICY', 'closed'],
    ['QUOTA_FAILURE_POLICY', 'read=open'],
    ['QUOTA_FAILURE_POLICY', 'read=maybe,write=closed'],
    ['QUOTA_FAILURE_POLICY', 'read=open,write=closed,read=closed'],
    ['QUOTA_FAILURE_POLICY', 'read=open,write=closed,delete=open'],
    ['QUOTA_FAILURE_POLICY', 'read=open,write=closed,'],
    ['EXPECTED_PROCESSES', '-1'],
    ['EXPECTED_PROCESSES', '1001'],
    ['EXPECTED_PROCESSES', '2.5'],
  ])('refuses %s=%s', (name, value) => {
    const message = messageOf({ [name]: value })
    expect(message).toContain(`  ${name}: expected`)
    expect(message).not.toContain(value)
  })

  it('names every fault at once', () => {
    const message = messageOf({ PORT: 'x', HOST: ' ', LOG_LEVEL: 'x', DEMO_USER_TOKEN: 'x' })
    for (const name of ['PORT', 'HOST', 'LOG_LEVEL', 'DEMO_USER_TOKEN']) expect(message).toContain(`  ${name}: `)
  })

  it('refuses 0 processes', () => {
    expect(messageOf({ EXPECTED_PROCESSES: '0' })).toContain('EXPECTED_PROCESSES: expected')
  })

  it('names every fault of the failure policy', () => {
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
  ])('shows of %s no more than where it is', (url, shown) => {
    expect(loadConfig({ REDIS_URL: url }).redisUrl).toBe(url)
    expect(redisAddress(url)).toBe(shown)
  })

  it('refuses one token for both users, and demo tokens in production', () => {
    expect(messageOf({ DEMO_USER_TOKEN: 'gw_same', DEMO_ADMIN_TOKEN: 'gw_same' })).toContain(
      'DEMO_ADMIN_TOKEN: must differ',
    )
    expect(messageOf({ NODE_ENV: 'production', DEMO_USER_TOKEN: 'gw_user' })).toContain(
      'DEMO_USER_TOKEN: there is no demo',
    )
  })

  it('is documented: every variable with its default', () => {
    const page = readFileSync(join(ROOT, 'docs/gateway/index.md'), 'utf8')
    const rows = [...page.matchAll(/^\| `([A-Z_]+)` +\| (.*?) +\|/gm)].map(([, name, text]) => [name, text])
    const expected = Object.entries(VARIABLES).map(([name, { default: text }]) => {
      const shown = text?.replace(`${ROOT}/`, '')
      return [name, shown === undefined || shown === '' ? 'none' : `\`${shown}\``]
    })
    expect(rows).toEqual(expected)
  })
})
