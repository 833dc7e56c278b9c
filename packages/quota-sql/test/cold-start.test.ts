import { readFile, writeFile } from 'node:fs/promises'
import { inspect } from 'node:util'
import { postgresTests } from '@scoregw/postgres-server'
import { createQuota, defaultPolicy } from '@scoregw/quota'
import { freePort, ownTime } from '@scoregw/server-kit'
import type pg from 'pg'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgresStore } from '../src/index.ts'
import { startCuttingProxy } from './support/cutting-proxy.ts'
import { TestDatabase } from './support/database.ts'
import { poolOf } from './support/pool.ts'

/** Each way. The first call takes three round trips, and so does connecting with a password. */
const ONE_WAY_MS = 80
const FAR_DEADLINE_MS = 850
/** Longer than any test waits. */
const FOR_EVER_MS = 60_000
const PASSWORD = 'hunter2'

const write = { subject: 'u', operation: 'write' } as const

describe.runIf(postgresTests)('a first connection to PostgreSQL', () => {
  const database = new TestDatabase()

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
    const quota = createQuota({ policy: defaultPolicy(), store, logger: { error: log, warn: log } })
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

  it('to a server that is far away is waited for, and then its answer', async () => {
    const proxy = await proxyOf()
    proxy.latency(ONE_WAY_MS)
    const { quota } = engineOn(poolOn(urlOf({ port: proxy.port })), { deadlineMs: FAR_DEADLINE_MS })
    const began = performance.now()
    expect(await quota.consume(write)).toMatchObject({ allowed: true, source: 'store' })
    // Else this shows nothing.
    expect(performance.now() - began).toBeGreaterThan(FAR_DEADLINE_MS)
  })

  it('is waited for by ready() as well', async () => {
    const proxy = await proxyOf()
    proxy.latency(ONE_WAY_MS)
    const { store } = engineOn(poolOn(urlOf({ port: proxy.port })), { deadlineMs: 300 })
    await expect(store.ready()).resolves.toBeUndefined()
  })

  it('that is refused is not waited for, and the log says why in one line', async () => {
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

  it('that is not made in time is not waited for any longer', async () => {
    const proxy = await proxyOf()
    proxy.silence(true)
    const { quota, lines } = engineOn(poolOn(urlOf({ port: proxy.port })), { connectTimeoutMs: 300 })
    await refused(quota.consume(write))
    expect(lines).toEqual([expect.stringMatching(/no connection within 300 ms.*raise connectTimeoutMs/)])
  })

  it('to a server that says nothing is waited for by so many calls and no more, and not after the end', async () => {
    const proxy = await proxyOf()
    proxy.silence(true)
    const pool = poolOn(urlOf({ port: proxy.port }))
    const { quota, close, lines } = engineOn(pool)
    const calls = Array.from({ length: 10_100 }, () => quota.consume(write).catch(() => 'failed'))
    expect(await Promise.all(calls.slice(10_000))).toEqual(Array(100).fill('failed'))
    expect(lines).toEqual([expect.stringMatching('no more are taken on')])
    await close()
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['failed']))
  })

  it.each([
    [
      'a wrong password',
      () => urlOf({ password: 'hunter3' }),
      /password authentication failed.*Correct the user and password/,
    ],
    ['no password', () => urlOf({ password: '' }), /password must be.*Correct the user and password/],
    ['a database that is not there', () => urlOf({ pathname: 'none' }), /"none" does not exist.*Create the database/],
  ])('with %s says so in one line, and shows no password', async (_, url, says) => {
    const { store, quota, lines } = engineOn(poolOn(url()))
    const errors = [await store.ready().catch((error: unknown) => error)]
    for (let call = 0; call < 3; call++) errors.push(await quota.consume(write).catch((error: unknown) => error))
    expect(errors.map((error) => (error as { code: string }).code)).toEqual([
      'store_error',
      ...Array(3).fill('quota_unavailable'),
    ])
    expect(lines).toEqual([expect.stringMatching(says)])
    expect(inspect(errors, { depth: 20 }) + lines.join('')).not.toContain('hunter')
  })

  it('to a database without the tables says what to run', async () => {
    const { quota, lines } = engineOn(poolOn(urlOf({})), { prefix: 'nowhere' })
    await refused(quota.consume(write))
    expect(lines).toEqual([expect.stringMatching(/"nowhere_\w+" does not exist.*run the migrations/)])
  })
})
