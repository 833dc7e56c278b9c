import { setTimeout } from 'node:timers/promises'
import { type PostgresServer, postgresTests } from '@scoregw/postgres-server'
import { redisTests } from '@scoregw/redis-server'
import { ownTime, slowTests } from '@scoregw/server-kit'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { DatabaseAwayError } from '../src/db/database-away.ts'
import { openPostgres } from '../src/db/postgres.ts'
import type { Db } from '../src/db/schema.ts'
import { ADMIN_TOKEN, type Answer, ENTRY, sender, tempDir, USER_TOKEN } from './support/gateway.ts'
import { postgresServer } from './support/postgres.ts'
import { runGateway } from './support/process.ts'
import { redisServer } from './support/redis.ts'
import { BOT_TOKEN, botOf, recordOf } from './support/sync.ts'
import { closedInTheEnd } from './support/test-database.ts'

const TOKENS = { DEMO_USER_TOKEN: USER_TOKEN, DEMO_ADMIN_TOKEN: ADMIN_TOKEN, BOT_TOKEN }
const KEY = 'mk_test-key-0123456789'
const PLENTY = { '1h': 10 ** 9, '5h': 10 ** 9, '1d': 10 ** 9 }
const UNLIMITED = { overrides: { read: PLENTY, write: PLENTY }, bypassSite: true }

type Send = ReturnType<typeof sender>

function serviceUrl(printed: string, name: string): string {
  return new RegExp(`${name} +(\\S+)`).exec(printed)?.[1] ?? ''
}

describe.runIf(postgresTests)('a silent PostgreSQL', () => {
  it.runIf(slowTests)('a gateway with requests in flight stops in 10 s while its PostgreSQL is silent', async () => {
    const postgres = await postgresServer()
    const child = await runGateway(tempDir(), { ...TOKENS, DATABASE_URL: postgres.url })
    const send = sender(child.baseUrl)
    expect((await send('GET', '/me/quota')).status).toBe(200)
    postgres.pause()
    onTestFinished(() => postgres.resume())
    const inFlight = [1, 2, 3].map(() => send('POST', '/v1/user/music').catch((error: unknown) => error))
    await expect.poll(() => child.stderr(), { timeout: 60_000 }).toContain('PostgreSQL does not answer')
    const stopping = ownTime()
    child.process.kill('SIGTERM')
    expect(await child.ended()).toEqual({ code: 0, signal: null })
    // Promised are 10 s. Before, each step of the stop waited for the database by itself, 27 s in all.
    expect(ownTime() - stopping).toBeLessThan(12_000)
    expect(child.stderr()).toContain('stopped without closing what does not answer')
    await Promise.all(inFlight)
  })
})

describe.runIf(postgresTests && redisTests && slowTests)('a PostgreSQL killed under load', () => {
  it('requests get 503 while PostgreSQL is down and work within a second, with all acknowledged data', async () => {
    const [postgres, redis] = await Promise.all([postgresServer({ durable: true }), redisServer()])
    const env = { ...TOKENS, CHART_API_KEY: KEY, DATABASE_URL: await postgres.createDatabase(), REDIS_URL: redis.url }
    const child = await runGateway(tempDir(), env)
    const send = sender(child.baseUrl)
    await send('PUT', '/admin/users/demo/quota', { token: ADMIN_TOKEN, body: UNLIMITED })
    const load = new Load(send)
    await load.until(() => load.answers.length >= 60)
    expect(new Set(load.answers.map(({ status }) => status))).toEqual(new Set([200]))

    const killedAt = performance.now()
    await postgres.kill()
    const awayAt = performance.now()
    const elsewhere = await Promise.all([
      send('GET', '/readyz', { token: null }),
      send('GET', '/admin/users', { token: ADMIN_TOKEN }),
      send('POST', '/v1/charge', { body: { chargeId: 2 }, headers: { 'Idempotency-Key': 'one' } }),
      botOf(serviceUrl(child.stdout(), 'Score sync')).sync({ qq: 20_002, records: [recordOf(101)] }),
      sender(serviceUrl(child.stdout(), 'Chart preview'), 'charts')('GET', '/api/v1/charts', {
        token: null,
        headers: { 'X-API-Key': KEY },
      }),
    ])
    expect(elsewhere.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503])
    expect(elsewhere.every(({ headers }) => Number(headers.get('Retry-After')) >= 1)).toBe(true)
    expect((await send('GET', '/healthz', { token: null })).status).toBe(200)
    await load.until(() => load.answers.filter(({ sentAt }) => sentAt > awayAt).length >= 60)
    const away = load.answers.filter(({ sentAt }) => sentAt > awayAt)
    await postgres.restart()
    const backAt = performance.now()
    const back = ownTime()
    await load.until(() => load.answers.some(({ sentAt, status }) => sentAt > backAt && status === 200))
    expect(ownTime() - back).toBeLessThan(1_000)
    const normalAt = performance.now()
    await load.until(() => load.answers.filter(({ sentAt }) => sentAt > normalAt).length >= 30)
    await load.stop()

    expect(new Set(away.map(({ status }) => status))).toEqual(new Set([503]))
    for (const { status, sentAt, body, headers } of load.answers) {
      if (sentAt < killedAt - 1_000 || sentAt > normalAt) expect(status).toBe(200)
      if (status === 200) continue
      expect({ status, error: body.error, retryAfter: headers.get('Retry-After') }).toEqual({
        status: 503,
        error: 'quota_unavailable',
        retryAfter: '5',
      })
      expect(body.msg).toMatch(/^The (?:database does not answer|quota cannot be checked) right now\. Try again\.$/)
    }
    // The highest that was acknowledged is there, or one that was sent after it and got no answer.
    const scores = (await send('POST', '/v1/user/music')).body.businessData.userMusicDetailList
    expect(scores[0].dxScore).toBeGreaterThanOrEqual(load.acknowledged)
    expect(scores[0].dxScore).toBeLessThanOrEqual(load.sent)
    expect((await send('GET', '/readyz', { token: null })).status).toBe(200)
    child.process.kill('SIGTERM')
    expect(await child.ended()).toEqual({ code: 0, signal: null })
    expect(child.stderr()).not.toContain('"request failed"')
  })
})

describe.runIf(postgresTests)('connections to PostgreSQL', () => {
  const backend = sql<{ pid: number }>`select pg_backend_pid() as pid`
  const one = sql<{ n: number }>`select 1 as n`

  async function opened(options?: Parameters<typeof openPostgres>[1]): Promise<{ postgres: PostgresServer; db: Db }> {
    const postgres = await postgresServer()
    return { postgres, db: await closedInTheEnd(openPostgres(await postgres.createDatabase(), options)) }
  }

  it('an idle transaction’s broken connection fails only that transaction', async () => {
    const { postgres, db } = await opened()
    const uncaught = vi.fn()
    process.on('uncaughtException', uncaught)
    onTestFinished(() => void process.off('uncaughtException', uncaught))
    const work = db.transaction().execute(async (transaction) => {
      const [row] = (await backend.execute(transaction)).rows
      await postgres.sql(`select pg_terminate_backend(${row?.pid})`)
      await setTimeout(50)
      await one.execute(transaction)
    })
    await expect(work).rejects.toThrow(DatabaseAwayError)
    expect((await one.execute(db)).rows).toEqual([{ n: 1 }])
    expect(uncaught).not.toHaveBeenCalled()
  })

  it('a silent connection is replaced without waiting for its rollback', async () => {
    const { postgres, db } = await opened({ silenceTimeoutMs: 300 })
    const pids = new Set<number | undefined>()
    const started = ownTime()
    const work = db.transaction().execute(async (transaction) => {
      pids.add((await backend.execute(transaction)).rows[0]?.pid)
      postgres.pause()
      await one.execute(transaction)
    })
    await expect(work).rejects.toThrow(DatabaseAwayError)
    expect(ownTime() - started).toBeLessThan(590)
    postgres.resume()
    // The old one is in the middle of a transaction.
    pids.add((await backend.execute(db)).rows[0]?.pid)
    expect(pids.size).toBe(2)
  })

  it('a stopping server is distinguished from an invalid statement', async () => {
    const { db } = await opened()
    const stopped = sql`select pg_terminate_backend(pg_backend_pid())`.execute(db)
    await expect(stopped).rejects.toThrow(DatabaseAwayError)
    await expect(sql`select nothing`.execute(db)).rejects.toMatchObject({ name: 'error', code: '42703' })
  })
})

interface Sent extends Answer {
  readonly sentAt: number
}

/** Writes and reads, two callers each, until it is stopped. */
class Load {
  readonly answers: Sent[] = []
  sent = 0
  acknowledged = 0
  readonly #send: Send
  readonly #workers: Promise<void>[]
  #isOver = false
  readonly #waiting: (() => void)[] = []

  constructor(send: Send) {
    this.#send = send
    this.#workers = [this.#work(() => this.#upsert()), this.#work(() => this.#read()), this.#work(() => this.#read())]
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      const answered = new Promise<void>((resolve) => this.#waiting.push(resolve))
      await Promise.race([answered, ...this.#workers])
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#workers)
  }

  async #work(call: () => Promise<Answer>): Promise<void> {
    while (!this.#isOver) {
      const sentAt = performance.now()
      this.answers.push({ ...(await call()), sentAt })
      for (const wake of this.#waiting.splice(0)) wake()
    }
  }

  async #upsert(): Promise<Answer> {
    const dxScore = ++this.sent
    const answer = await this.#send('POST', '/v1/music/upsert', { body: { musicList: [{ ...ENTRY, dxScore }] } })
    if (answer.status === 200) this.acknowledged = dxScore
    return answer
  }

  #read(): Promise<Answer> {
    return this.#send('POST', '/v1/user/music')
  }
}
