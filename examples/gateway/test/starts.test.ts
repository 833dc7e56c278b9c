import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { postgresTests } from '@scoregw/postgres-server'
import Database from 'libsql'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../src/config/config.ts'
import { StartError } from '../src/start/start-error.ts'
import { tempDir, testGateway } from './support/gateway.ts'
import { testDatabase } from './support/postgres.ts'
import { run } from './support/process.ts'

/** What a start says that comes to nothing: it is one line, and has no credential. */
async function refusal(env: Record<string, string>, dataDir?: string): Promise<string> {
  const error = await testGateway({ env, ...(dataDir === undefined ? {} : { dataDir }) }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StartError)
  const { message } = error as StartError
  expect(message).not.toContain('\n')
  expect(message).not.toContain('secret')
  return message
}

async function takenPort(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return String((server.address() as { port: number }).port)
}

describe('starts that fail', () => {
  it.each(['PORT', 'SYNC_PORT', 'CHARTS_PORT', 'METRICS_PORT'])('the error names a taken %s', async (name) => {
    const port = await takenPort()
    expect(await refusal({ [name]: port })).toBe(
      `${name}=${port}: something listens there already; stop it, or name another port`,
    )
  })

  it('the error names a host that isn’t of this machine', async () => {
    expect(await refusal({ HOST: '192.0.2.1' })).toMatch(/^HOST=192\.0\.2\.1: is no address of this machine; name one/)
  })

  it('the error names a data folder that is a file, is inside one, or can’t be created', async () => {
    const file = join(tempDir(), 'file')
    writeFileSync(file, '')
    for (const dataDir of [file, join(file, 'inside')]) {
      expect(await refusal({}, dataDir)).toBe(`DATA_DIR=${dataDir}: is a file, or inside of one; name a folder`)
    }
    expect(await refusal({}, '/proc/score-gateway')).toMatch(
      /^DATA_DIR=\/proc\/score-gateway: cannot be (?:made|written to)/,
    )
  })

  it('the error names a file that isn’t a database', async () => {
    const dataDir = tempDir()
    writeFileSync(join(dataDir, 'gateway.sqlite'), 'garbage '.repeat(1_000))
    expect(await refusal({}, dataDir)).toMatch(/^DATA_DIR=\S+: gateway\.sqlite in it is no database, or a damaged one/)
    mkdirSync(join(dataDir, 'other', 'gateway.sqlite'), { recursive: true })
    expect(await refusal({}, join(dataDir, 'other'))).toContain('cannot be written to')
  })

  it('the error names an unreachable PostgreSQL', async () => {
    const env = { DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/scores' }
    expect(await refusal(env)).toBe(
      'DATABASE_URL=127.0.0.1:1/scores: no PostgreSQL answers there (ECONNREFUSED); ' +
        'start it, or correct host and port of the address',
    )
  })

  it('a failed start prints one line and exits with 78', async () => {
    const file = join(tempDir(), 'file')
    writeFileSync(file, '')
    const child = run('main', [], { DATA_DIR: file })
    expect(await child.ended()).toEqual({ code: 78, signal: null })
    const cli = run('cli', ['users', 'list'], { DATA_DIR: file })
    expect(await cli.ended()).toEqual({ code: 78, signal: null })
    for (const { stderr } of [child, cli])
      expect(stderr()).toBe(`DATA_DIR=${file}: is a file, or inside of one; name a folder\n`)
  })
})

/** What a version after this one leaves in a database. */
const LATER = "insert into kysely_migration (name, timestamp) values ('0002-later', '2027-01-01T00:00:00.000Z')"
/** And one before it, whose tables had other names. */
const EARLIER = "update kysely_migration set name = '0001-first' where name = '0001-tables'"
const OTHER_VERSION =
  'the database: was made by another version of the gateway; run that version, or name an empty database ' +
  '(docs/gateway/deployment.md#versions)'

describe('a database of another version', () => {
  it.each([LATER, EARLIER])('the embedded database of another version is one line, and exit 78: %s', async (change) => {
    const { dataDir, stop } = await testGateway()
    await stop()
    const file = new Database(join(dataDir, 'gateway.sqlite'))
    file.exec(change)
    file.close()
    const child = run('main', [], { DATA_DIR: dataDir, DATA_DIR_SHARED: 'true' })
    const { code } = await child.ended()
    expect([code, child.stderr()]).toEqual([78, `${OTHER_VERSION}\n`])
  })

  it.runIf(postgresTests)('a PostgreSQL of another version is refused in the same words', async () => {
    const { url: databaseUrl } = await testDatabase()
    const env = { DATABASE_URL: databaseUrl }
    await (await testGateway({ env })).stop()
    const client = new pg.Client(databaseUrl)
    await client.connect()
    await client.query(LATER)
    await client.end()
    expect(await refusal(env)).toBe(OTHER_VERSION)
  })
})

describe('a start without Redis', () => {
  it('a gateway starts without its Redis and logs the address', async () => {
    const { log } = await testGateway({ env: { REDIS_URL: 'redis://:secret@127.0.0.1:1' } })
    expect(log.join('')).toContain('REDIS_URL=127.0.0.1:1: no Redis answers there; start it, or correct the address')
    expect(log.join('')).not.toContain('secret')
  })
})

describe.runIf(postgresTests)('data folders with PostgreSQL', () => {
  it('the demo creates a missing data folder, and a wrong address is reported', async () => {
    const { url: databaseUrl } = await testDatabase()
    const dataDir = join(tempDir(), 'not', 'there')
    const gateway = await testGateway({ dataDir, env: { DATABASE_URL: databaseUrl } })
    expect((await gateway.send('GET', '/me/quota')).status).toBe(200)
    await gateway.stop()
    const missing = new URL(databaseUrl)
    missing.pathname = '/nothing'
    expect(await refusal({ DATABASE_URL: missing.href })).toMatch(
      /^DATABASE_URL=\S+\/nothing: there is no such database; create it, or correct the address$/,
    )
  })
})

describe('misspelt variables', () => {
  it('a misspelt variable is reported with the probable one and is a fault in production', () => {
    const env = { DATABSE_URL: 'postgres://user:secret@db/scores', PROT: '9090', JWT_SECRET: 'x'.repeat(32) }
    const texts = loadConfig(env).misspelt
    expect(texts).toEqual([
      'DATABSE_URL: is no variable of the gateway; DATABASE_URL was probably meant',
      'PROT: is no variable of the gateway; PORT was probably meant',
    ])
    const production = (): unknown => loadConfig({ ...env, NODE_ENV: 'production' })
    expect(production).toThrow(/DATABSE_URL: is no variable of the gateway; DATABASE_URL was probably meant/)
    expect(production).not.toThrow(/secret/)
  })

  it('variables of other programs and next to the correct one aren’t reported', () => {
    const others = [
      'HOME',
      'PATH',
      'HOSTNAME',
      'LOGNAME',
      'SHELL',
      'PWD',
      'LANG',
      'TERM',
      'npm_config_cache',
      'REDIS_PORT',
    ]
    const env = { ...Object.fromEntries(others.map((name) => [name, 'x'])), DATA_DIR: '/a', DATADIR: '/b' }
    expect(loadConfig(env).misspelt).toEqual([])
  })
})

describe('two services on one port', () => {
  it('two services on one port are a fault that names both, except with port 0', () => {
    expect(() => loadConfig({ PORT: '9000', CHARTS_PORT: '9000', METRICS_PORT: '8081' })).toThrow(
      /CHARTS_PORT: 9000 is PORT too; give each a port of its own\n {2}METRICS_PORT: 8081 is SYNC_PORT too/,
    )
    expect(loadConfig({ PORT: '0', SYNC_PORT: '0', CHARTS_PORT: '0' }).PORT).toBe(0)
  })
})
