import type { AddressInfo } from 'node:net'
import { postgresTests, sharedPostgres } from '@scoregw/postgres-server'
import { createQuota, definePolicy, memoryStore, type Quota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { migrateQuota, postgresStore, sqliteStore } from '@scoregw/quota-sql'
import express, { type Express } from 'express'
import { Kysely, PostgresDialect, type SqliteDatabase, SqliteDialect, sql, type Transaction } from 'kysely'
import Database from 'libsql'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { QuotaRefusal, quotaErrorHandler, quotaMiddleware } from '../src/index.ts'

interface Tables {
  works: { subject: string }
}
type Db = Kysely<Tables>

const policy = definePolicy({
  limits: { perHour: { by: 'user', limit: 2, per: '1h' } },
  operations: { work: {} },
})

interface Opened {
  readonly db: Db
  readonly quota: Quota<'work'>
}

const WORKS = 'create table works (subject text not null)'

async function onSqlite(): Promise<Opened> {
  const database = new Database(':memory:')
  const db: Db = new Kysely({ dialect: new SqliteDialect({ database: database as unknown as SqliteDatabase }) })
  await migrateQuota(db, { dialect: 'sqlite' })
  database.exec(WORKS)
  const quota = createQuota({ policy, store: sqliteStore({ database }), logger: false })
  onTestFinished(async () => {
    await quota.close()
    await db.destroy()
  })
  return { db, quota: quota as Quota<'work'> }
}

async function onPostgres(): Promise<Opened> {
  const server = await sharedPostgres()
  const url = await server.createDatabase()
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  const db: Db = new Kysely({ dialect: new PostgresDialect({ pool }) })
  await migrateQuota(db, { dialect: 'postgres' })
  await pool.query(WORKS)
  const quota = createQuota({ policy, store: postgresStore({ pool, deadlineMs: 10_000 }), logger: false })
  onTestFinished(async () => {
    await quota.close()
    await db.destroy()
    await server.dropDatabase(url)
  })
  return { db, quota: quota as Quota<'work'> }
}

async function served(app: Express) {
  const server = app.listen(0)
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return async (path: string, method = 'POST') => {
    const response = await fetch(url + path, { method, headers: { 'x-user': 'ann', connection: 'close' } })
    const text = await response.text()
    return { status: response.status, text, limit: response.headers.get('ratelimit'), headers: response.headers }
  }
}

type Work = (transaction: Transaction<Tables>, attempt: number) => Promise<void>

/** An app that works in a transaction and charges there, `/work`, or before, `/before`. */
async function appOn({ db, quota }: Opened, after: Work = async () => undefined, attempts = 1) {
  const metered = quotaMiddleware({ quota, subject: (req) => req.get('x-user'), standardHeaders: 'draft-11' })
  const app = express()
  app.post('/work', metered.inTransaction('work'), async (req, res) => {
    for (let attempt = 1; attempt <= attempts; attempt++) {
      try {
        await db.transaction().execute(async (transaction) => {
          await transaction.insertInto('works').values({ subject: 'ann' }).execute()
          await req.charge(transaction)
          await after(transaction, attempt)
        })
        break
      } catch (error) {
        if (attempt === attempts || error instanceof QuotaRefusal) throw error
      }
    }
    res.json({ charged: metered.of(req)?.charged })
  })
  app.post('/before', metered.operation('work'), (_req, res) => void res.json({}))
  app.use(quotaErrorHandler())
  app.use(((_error, _req, res, _next) => void res.status(500).json({ error: 'ours' })) as express.ErrorRequestHandler)
  const send = await served(app)
  const used = async () => (await quota.status('ann')).limits.perHour?.used
  const works = async () => (await db.selectFrom('works').select('subject').execute()).length
  return { send, used, works }
}

const PLACES = [
  ['SQLite', true, onSqlite],
  ['PostgreSQL', postgresTests, onPostgres],
] as const

describe.each(PLACES)('a request that is charged in the transaction of its work, on %s', (_, runs, open) => {
  it.runIf(runs)('the charge is committed with the work, and the response has its fields', async () => {
    const { send, used, works } = await appOn(await open())
    expect(await send('/work')).toMatchObject({
      status: 200,
      text: '{"charged":1}',
      limit: expect.stringMatching(/^"perHour";r=1;t=\d+$/),
    })
    expect([await used(), await works()]).toEqual([1, 1])
  })

  it.runIf(runs)('a refusal rolls the work back and is the same 429 as without a transaction', async () => {
    const { send, used, works } = await appOn(await open())
    for (let n = 0; n < 2; n++) expect((await send('/work')).status).toBe(200)
    const [refused, before] = [await send('/work'), await send('/before')]
    expect([refused.status, before.status]).toEqual([429, 429])
    const parsed = JSON.parse(refused.text)
    expect(Object.keys(parsed)).toEqual(Object.keys(JSON.parse(before.text)))
    expect(parsed).toMatchObject({ error: 'quota_exceeded' })
    for (const name of ['retry-after', 'ratelimit', 'ratelimit-policy', 'content-type'])
      expect(refused.headers.has(name), name).toBe(before.headers.has(name))
    expect([await used(), await works()]).toEqual([2, 2])
  })

  it.runIf(runs)('work that fails after its charge charges nothing, and its response shows that', async () => {
    const { send, used, works } = await appOn(await open(), async (transaction) => {
      await sql`insert into nowhere values (1)`.execute(transaction)
    })
    expect(await send('/work')).toMatchObject({
      status: 500,
      text: '{"error":"ours"}',
      limit: expect.stringMatching(/^"perHour";r=2;t=\d+$/),
    })
    expect([await used(), await works()]).toEqual([0, 0])
  })

  it.runIf(runs)('a transaction that was rolled back and is run again is charged again, once', async () => {
    const failing: Work = async (_transaction, attempt) => {
      if (attempt === 1) throw new Error('serialization failure')
    }
    const { send, used, works } = await appOn(await open(), failing, 2)
    expect(await send('/work')).toMatchObject({
      status: 200,
      text: '{"charged":1}',
      limit: expect.stringMatching(/^"perHour";r=1;t=\d+$/),
    })
    expect([await used(), await works()]).toEqual([1, 1])
  })

  it.runIf(runs)('ten requests at once are admitted up to the limit', async () => {
    const { send, used, works } = await appOn(await open())
    const statuses = (await Promise.all(Array.from({ length: 10 }, () => send('/work')))).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 200, ...Array(8).fill(429)])
    expect([await used(), await works()]).toEqual([2, 2])
  })
})

describe('routes with inTransaction()', () => {
  it('a refusal has its status and fields even without quotaErrorHandler()', async () => {
    const { db, quota } = await onSqlite()
    const metered = quotaMiddleware({ quota, subject: (req) => req.get('x-user'), standardHeaders: 'draft-11' })
    const app = express()
    app.post('/work', metered.inTransaction('work', { cost: 3 }), async (req, res) => {
      await db.transaction().execute((transaction) => req.charge(transaction))
      res.json({})
    })
    const refused = await (await served(app))('/work')
    expect([refused.status, refused.headers.has('ratelimit')]).toEqual([429, true])
  })

  it('a skipped request is not charged', async () => {
    const { db, quota } = await onSqlite()
    const metered = quotaMiddleware({ quota, subject: (req) => req.get('x-user'), skip: () => true })
    const app = express()
    app.post('/work', metered.inTransaction('work'), async (req, res) => {
      const decision = await db.transaction().execute((transaction) => req.charge(transaction))
      res.json({ isCharged: decision !== undefined })
    })
    expect(await (await served(app))('/work')).toMatchObject({ status: 200, text: '{"isCharged":false}' })
  })

  it('a store without transactions and options that settle are rejected at construction', async () => {
    const inMemory = createQuota({ policy: scoreGatewayPolicy(), store: memoryStore() })
    const metered = quotaMiddleware({ quota: inMemory, subject: () => 'ann' })
    expect(() => metered.inTransaction('write')).toThrowError(expect.objectContaining({ code: 'store_unsupported' }))
    const { quota } = await onSqlite()
    const { inTransaction } = quotaMiddleware({ quota, subject: () => 'ann' })
    for (const overrides of [{ settle: 'end' }, { maxWaitMs: 100 }, { ttlMs: 1_000 }] as const) {
      const [path] = Object.keys(overrides)
      const faults = [expect.objectContaining({ path })]
      expect(() => inTransaction('work', overrides)).toThrowError(
        expect.objectContaining({ code: 'invalid_options', faults }),
      )
    }
    expect(() => inTransaction('wrok' as 'work')).toThrowError(expect.objectContaining({ code: 'unknown_operation' }))
  })
})
