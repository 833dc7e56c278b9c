import { readFile, writeFile } from 'node:fs/promises'
import { inspect } from 'node:util'
import { postgresTests } from '@scoregw/postgres-server'
import { createQuota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { freePort, ownTime } from '@scoregw/server-kit'
import type pg from 'pg'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgresStore, sqlSettings } from '../src/index.ts'
import { startCuttingProxy } from './support/cutting-proxy.ts'
import { TestDatabase } from './support/database.ts'
import { kyselyOnPool, poolOf } from './support/pool.ts'

/** Each way. Connecting with a password takes three round trips. */
const ONE_WAY_MS = 200
/** For one round trip, not for two. */
const FAR_DEADLINE_MS = 750
/** For two, not for three: the settings of a subject take one more. */
const FAR_SETTINGS_DEADLINE_MS = 1_150
/** For what is answered immediately, on a slow machine too. */
const ROOMY_MS = 10_000
/** Calls that a store sends or keeps until its server answers. */
const MOST_IN_FLIGHT = 10_000
/** Longer than any test waits. */
const FOR_EVER_MS = 60_000
const PASSWORD = 'hunter2'

const write = { subject: 'u', operation: 'write' } as const

describe.runIf(postgresTests)('the first connection to PostgreSQL', () => {
  // Its own: a role and a password are added to it.
  const database = new TestDatabase({})

  beforeAll(async () => {
    const { server, url } = database
    const [row] = await server.sql('show hba_file')
    const file = String(row?.hba_file)
    await writeFile(file, `host all app 127.0.0.1/32 scram-sha-256\n${await readFile(file, 'utf8')}`)
    await server.sql(`create role app login superuser password '${PASSWORD}'; select pg_reload_conf()`, url)
  })

  const urlOf = (change: Partial<Record<'port' | 'username' | 'password' | 'pathname', string | number>>): string =>
    Object.assign(new URL(database.url), { username: 'app', password: PASSWORD, ...change }).href

  function engineOn(pool: pg.Pool, { connectTimeoutMs = FOR_EVER_MS, deadlineMs = 250, prefix = 'quota' } = {}) {
    const lines: string[] = []
    const log = (line: string): void => void lines.push(line)
    const store = postgresStore({ pool, deadlineMs, connectTimeoutMs, prefix })
    const quota = createQuota({ policy: scoreGatewayPolicy(), store, logger: { error: log, warn: log } })
    const close = async (): Promise<void> => {
      await quota.close()
    }
    onTestFinished(close)
    return { store, quota, lines, close }
  }

  function poolOn(url: string): pg.Pool {
    const pool = poolOf(url)
    onTestFinished(() => void pool.end())
    return pool
  }

  async function proxyOf() {
    const proxy = await startCuttingProxy(database.server.port)
    onTestFinished(() => proxy.stop())
    return proxy
  }

  const refused = (call: Promise<unknown>) => expect(call).rejects.toMatchObject({ code: 'quota_unavailable' })

  it('the first calls wait for a connection to a distant server and get its answers', async () => {
    const proxy = await proxyOf()
    proxy.latency(ONE_WAY_MS)
    const { quota } = engineOn(poolOn(urlOf({ port: proxy.port })), { deadlineMs: FAR_DEADLINE_MS })
    const began = performance.now()
    expect(await quota.consume(write)).toMatchObject({ allowed: true, source: 'store' })
    // Else this shows nothing.
    expect(performance.now() - began).toBeGreaterThan(FAR_DEADLINE_MS)
  })

  it('the first calls wait for the connections of both settings and counters', async () => {
    const proxy = await proxyOf()
    proxy.latency(ONE_WAY_MS)
    const far = urlOf({ port: proxy.port })
    const settingsStore = sqlSettings({ db: kyselyOnPool(poolOn(far)) })
    const store = postgresStore({ pool: poolOn(far), deadlineMs: FAR_SETTINGS_DEADLINE_MS })
    const quota = createQuota({ policy: scoreGatewayPolicy(), store, settingsStore, logger: false })
    onTestFinished(() => quota.close())
    const began = performance.now()
    expect(await quota.consume(write)).toMatchObject({ allowed: true, source: 'store' })
    // Else this shows nothing.
    expect(performance.now() - began).toBeGreaterThan(FAR_SETTINGS_DEADLINE_MS)
  })

  it('the first connection’s time doesn’t count when a call is repeated', async () => {
    const proxy = await proxyOf()
    proxy.latency(ONE_WAY_MS)
    const { store, quota } = engineOn(poolOn(urlOf({ port: proxy.port })), { deadlineMs: FAR_DEADLINE_MS })
    const began = performance.now()
    const call = quota.reserve({ ...write, id: 'repeated' })
    await store.opening
    // Else this shows nothing.
    expect(performance.now() - began).toBeGreaterThan(FAR_DEADLINE_MS)
    proxy.latency(0)
    proxy.cutAfter(10)
    expect(await call).toMatchObject({ status: 'reserved', decision: { source: 'store' } })
  })

  it('ready() waits for the first connection, and the first call waits for the remaining steps', async () => {
    const proxy = await proxyOf()
    proxy.latency(ONE_WAY_MS)
    const pool = poolOn(urlOf({ port: proxy.port }))
    const store = postgresStore({ pool, deadlineMs: FAR_DEADLINE_MS })
    await expect(store.ready()).resolves.toBeUndefined()
    const quota = createQuota({ policy: scoreGatewayPolicy(), store, logger: false })
    onTestFinished(() => quota.close())
    const began = performance.now()
    expect(await quota.consume(write)).toMatchObject({ allowed: true, source: 'store' })
    // Else this shows nothing.
    expect(performance.now() - began).toBeGreaterThan(FAR_DEADLINE_MS)
  })

  it('the first calls don’t wait for a refused connection, and one log line has the reason', async () => {
    const port = await freePort()
    const { store, quota, lines } = engineOn(poolOn(urlOf({ port })))
    const began = ownTime()
    for (let call = 0; call < 3; call++) await refused(quota.consume(write))
    await expect(store.ready()).rejects.toThrow(`connect ECONNREFUSED 127.0.0.1:${port}. Start PostgreSQL there`)
    expect(ownTime() - began).toBeLessThan(FOR_EVER_MS / 10)
    expect(lines).toEqual([
      expect.stringMatching(
        new RegExp(
          `^quota: store_error: .*connect ECONNREFUSED 127.0.0.1:${port}\\. Start PostgreSQL there, or correct the host and port of your pool\\. Requests get 503`,
        ),
      ),
    ])
  })

  it('the first calls stop waiting when the connection isn’t made in time', async () => {
    const proxy = await proxyOf()
    proxy.silence(true)
    const { quota, lines } = engineOn(poolOn(urlOf({ port: proxy.port })), { connectTimeoutMs: 300 })
    await refused(quota.consume(write))
    expect(lines).toEqual([expect.stringMatching(/no connection within 300 ms.*raise connectTimeoutMs/)])
  })

  it('a limited number of calls wait for a server that never answers, and none after close()', async () => {
    const proxy = await proxyOf()
    proxy.silence(true)
    const pool = poolOn(urlOf({ port: proxy.port }))
    const { quota, close, lines } = engineOn(pool)
    const reasonOf = (error: Error): string => (error.cause as Error).message
    const calls = Array.from({ length: MOST_IN_FLIGHT + 100 }, () => quota.consume(write).then(String, reasonOf))
    expect(new Set(await Promise.all(calls.slice(MOST_IN_FLIGHT)))).toEqual(
      new Set([`${MOST_IN_FLIGHT} calls are in flight, and no more are taken on`]),
    )
    expect(lines).toEqual([expect.stringMatching('no more are taken on')])
    await close()
    // Not by the limit of the connection.
    expect((await Promise.all(calls)).filter((reason) => reason.includes('no connection within'))).toEqual([])
  })

  it('the error for a database without the tables says what to run', async () => {
    const { quota, lines } = engineOn(poolOn(urlOf({})), { prefix: 'nowhere', deadlineMs: ROOMY_MS })
    await refused(quota.consume(write))
    expect(lines).toEqual([expect.stringMatching(/"nowhere_\w+" does not exist.*run the migrations/)])
  })

  it.each([
    [
      'a wrong password',
      () => urlOf({ password: 'hunter3' }),
      /password authentication failed.*Correct the user and password/,
      ROOMY_MS,
    ],
    [
      'a database that is not there',
      () => urlOf({ pathname: 'none' }),
      /"none" does not exist.*Create the database/,
      ROOMY_MS,
    ],
    // Last: it is tried again until the deadline, and each try leaves pg a connection that isn't closed.
    ['no password', () => urlOf({ password: '' }), /password must be.*Correct the user and password/, 250],
  ] as const)('%s is reported in one line that hides the password', async (_, url, says, deadlineMs) => {
    const { store, quota, lines } = engineOn(poolOn(url()), { deadlineMs })
    const errors = [await store.ready().catch((error: unknown) => error)]
    for (let call = 0; call < 3; call++) errors.push(await quota.consume(write).catch((error: unknown) => error))
    expect(errors.map((error) => (error as { code: string }).code)).toEqual([
      'store_error',
      ...Array(3).fill('quota_unavailable'),
    ])
    expect(lines).toEqual([expect.stringMatching(says)])
    expect(inspect(errors, { depth: 20 }) + lines.join('')).not.toContain('hunter')
  })
})
