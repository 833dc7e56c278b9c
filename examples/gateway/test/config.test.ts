import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError, loadConfig } from '../src/config/config.ts'
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
    }
    expect(loadConfig(env)).toMatchObject({
      port: 0,
      publicBaseUrl: 'https://scores.example.com/base',
      corsOrigins: ['https://a.example.com', 'http://localhost:3000'],
      trustProxy: ['10.0.0.0/8', '::1'],
      demo: undefined,
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
  ])('refuses %s=%s', (name, value) => {
    const message = messageOf({ [name]: value })
    expect(message).toContain(`  ${name}: expected`)
    expect(message).not.toContain(value)
  })

  it('names every fault at once', () => {
    const message = messageOf({ PORT: 'x', HOST: ' ', LOG_LEVEL: 'x', DEMO_USER_TOKEN: 'x' })
    for (const name of ['PORT', 'HOST', 'LOG_LEVEL', 'DEMO_USER_TOKEN']) expect(message).toContain(`  ${name}: `)
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
