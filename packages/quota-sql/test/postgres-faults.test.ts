import { postgresTests } from '@scoregw/postgres-server'
import { createQuota } from '@scoregw/quota'
import { cellsIn, windowCell } from '@scoregw/quota/internal'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { isNotDone } from '@scoregw/quota/store'
import { uniform } from '@scoregw/quota-histories'
import { ownTime } from '@scoregw/server-kit'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresStore, quotaSchemaSql } from '../src/index.ts'
import { Pooling, Session } from '../src/postgres/session.ts'
import { postgresStatements } from '../src/postgres/statements.ts'
import { tableNames } from '../src/schema/tables.ts'
import { ONE, SCHEMA, take, used } from './support/counting.ts'
import { startCuttingProxy } from './support/cutting-proxy.ts'
import { TestDatabase } from './support/database.ts'
import { poolOf } from './support/pool.ts'
import { apart } from './support/schemas.ts'

/** Longer than an answer takes on a busy machine. */
const DEADLINE_MS = 600
/** For work that a timer starts and that is done a few turns later. */
const SLACK_MS = 50

/** Two connections, which are closed after the test. */
async function twoOf(pool: pg.Pool): Promise<readonly [pg.PoolClient, pg.PoolClient]> {
  const clients = [await pool.connect(), await pool.connect()] as const
  onTestFinished(() => {
    for (const client of clients) client.release(true)
  })
  return clients
}

describe.runIf(postgresTests)('PostgreSQL faults', () => {
  const database = new TestDatabase()

  const errorOf = async (call: PromiseLike<unknown>): Promise<Error & { code?: unknown }> => {
    try {
      await call
    } catch (error) {
      if (error instanceof Error) return error
    }
    throw new Error('it was answered')
  }

  const onPool = (pool: pg.Pool, prefix?: string) => postgresStore({ pool, deadlineMs: DEADLINE_MS, prefix })

  it('missing tables and tables of another version are reported with the remedy', async () => {
    const missing = onPool(database.pool(), 'nowhere')
    const error = await errorOf(take(missing.open(SCHEMA), 'u'))
    expect([error.code, isNotDone(error)]).toEqual(['store_error', true])
    expect(error.message).toContain('run the migrations')
    await expect(missing.ready()).rejects.toThrow('run the migrations')
    const admin = database.pool()
    await admin.query('update quota_format set version = 4')
    const message = expect.stringMatching(/tables .* version 4 .* reads version 2/)
    await expect(onPool(database.pool()).ready()).rejects.toMatchObject({ code: 'other_version', message })
    const call = await errorOf(take(onPool(database.pool()).open(SCHEMA), 'u'))
    expect([call.code, isNotDone(call)]).toEqual(['other_version', true])
    await admin.query('update quota_format set version = 2')
    await expect(onPool(database.pool()).ready()).resolves.toBeUndefined()
  })

  it('tables with other columns are reported as another version, also in calls', async () => {
    const url = await database.server.createDatabase()
    const pool = poolOf(url, { max: 1 })
    await pool.query(quotaSchemaSql({ dialect: 'postgres' }))
    await pool.query('alter table quota_rows drop column layout')
    const error = await errorOf(take(onPool(pool).open(SCHEMA), 'u'))
    expect([error.code, isNotDone(error)]).toEqual(['other_version', true])
    await pool.end()
  })

  it('work in a transaction that fails or is refused leaves nothing behind, and the transaction goes on', async () => {
    const pool = database.pool()
    const store = onPool(pool)
    const schema = apart(SCHEMA, 'within')
    await take(store.open(schema), 'within')
    const [holder, client] = await twoOf(database.pool())
    await holder.query("begin; select * from quota_rows where key = 'personal-within:within' for update")
    await client.query("begin; set local lock_timeout = '1ms'")
    const counters = store.inTransaction(schema, client)
    const error = await errorOf(take(counters, 'within'))
    expect([error.code, isNotDone(error)]).toEqual(['store_error', true])
    await holder.query('commit')
    expect((await take(counters, 'within')).outcome).toBe('admitted')
    const quotas = { layers: [0, 1], limits: [0, 0] }
    const refused = await counters.take({ subject: 'refused', set: 0, quotas, costs: ONE })
    expect(refused.outcome).toBe('refused')
    await client.query('commit')
    expect((await used(store.open(schema), 'within'))[0]).toBe(2)
    expect((await pool.query("select from quota_rows where key = 'personal-within:refused'")).rowCount).toBe(0)
  })

  it('work in a transaction that another process interferes with is tried again', async () => {
    const store = onPool(database.pool())
    const schema = apart(SCHEMA, 'again')
    await take(store.open(schema), 'again')
    const [holder, client] = await twoOf(database.pool())
    await holder.query("begin; select * from quota_rows where key = 'personal-again:again' for update")
    await client.query("begin; set local lock_timeout = '1ms'")
    let tries = 0
    const query = async (text: string, values: unknown[]) => {
      // It has tried, and did not get the row.
      if (text === 'rollback to savepoint quota' && ++tries === 1) await holder.query('commit')
      return client.query(text, values)
    }
    expect((await take(store.inTransaction(schema, { query }), 'again')).outcome).toBe('admitted')
    await client.query('commit')
    expect([tries, (await used(store.open(schema), 'again'))[0]]).toEqual([1, 2])
  })

  it('two lists of limits with one hash are never taken for one another', async () => {
    const cells = cellsIn(['tokens'], [windowCell({ label: 'clash', lengthMs: 60_000 })])
    const schema = uniform(['tokens'], cells, [{ name: 'clash', shared: false }])
    const takeOf = (subject: string) => {
      const quotas = { layers: [0], limits: [1e9] }
      return onPool(database.pool()).open(schema).take({ subject, set: 0, quotas, costs: ONE })
    }
    await takeOf('a')
    await database.pool().query("update quota_layouts set list = 'another' where list like '%clash%'")
    const error = await errorOf(takeOf('b'))
    expect([error.code, isNotDone(error)]).toEqual(['store_mismatch', true])
  })

  it('serializable transactions that fail are repeated, and every take is charged once', async () => {
    const options = '-c default_transaction_isolation=serializable'
    const all = [1, 2, 3].map(() => {
      const pool = database.pool({ options, max: 1 })
      return postgresStore({ pool, deadlineMs: 10_000 }).open(apart(SCHEMA, 'serial'))
    })
    const [, before] = await used(all[0]!, 'p0')
    const requested = Array.from({ length: 150 }, (_, index) => take(all[index % 3]!, `p${index % 4}`))
    const outcomes = new Set((await Promise.all(requested)).map(({ outcome }) => outcome))
    const again = await Promise.all(Array.from({ length: 90 }, (_, index) => take(all[index % 3]!, `p${index % 4}`)))
    expect([...outcomes, ...new Set(again.map(({ outcome }) => outcome))]).toEqual(['admitted', 'admitted'])
    expect((await used(all[0]!, 'p0'))[1] - before).toBe(240)
  })

  it('a commit that PostgreSQL answers with a rollback has failed', async () => {
    const statements = postgresStatements(tableNames('quota'))
    const session = await Session.open({
      pool: database.pool(),
      pooling: new Pooling(),
      statements,
      deadlineMs: 10_000,
    })
    onTestFinished(() => session.release(true))
    await session.begin()
    await errorOf(session.run({ name: 'broken', text: 'select 1 / 0' }, []))
    const error = await errorOf(session.commit())
    expect([error.code, isNotDone(error)]).toEqual(['store_error', false])
    expect(error.message).toContain('PostgreSQL rolled the transaction back')
  })

  it('an idle connection that breaks ends neither the process nor later calls', async () => {
    // As the shortest application has it, which listens to nothing.
    const pool = new pg.Pool({ connectionString: database.url, max: 1, application_name: 'idle' })
    const store = onPool(pool)
    await store.ready()
    const gone = new Promise((resolve) => pool.once('remove', resolve))
    expect(pool.listenerCount('error')).toBeGreaterThan(0)
    const kill = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'idle'"
    await database.pool().query(kill)
    await gone
    await expect(store.ready()).resolves.toBeUndefined()
    await store.close()
    await pool.end()
  })

  it('a role without rights and a read-only server reject immediately and charge nothing', async () => {
    await database.pool().query('create role reader login; grant select on all tables in schema public to reader')
    const url = new URL(database.url)
    url.username = 'reader'
    const reader = poolOf(url.href)
    const readOnly = database.pool({ options: '-c default_transaction_read_only=on' })
    for (const [pool, word] of [
      [reader, 'role'],
      [readOnly, 'read-only'],
    ] as const) {
      const from = ownTime()
      const error = await errorOf(take(onPool(pool).open(SCHEMA), 'v'))
      expect([error.code, isNotDone(error)]).toEqual(['store_error', true])
      expect(error.message).toContain(word)
      expect(ownTime() - from).toBeLessThan(DEADLINE_MS + SLACK_MS)
      await expect(onPool(pool).ready()).rejects.toMatchObject({
        code: 'store_error',
        message: expect.stringContaining(word) as string,
      })
    }
    await reader.end()
    expect(await used(onPool(database.pool()).open(SCHEMA), 'v')).toEqual([0, 0])
  })

  it('a pool without a free connection is reported within the deadline and used again later', async () => {
    const pool = database.pool({ max: 1 })
    const counters = onPool(pool).open(SCHEMA)
    const taken = await pool.connect()
    const error = await errorOf(take(counters, 'w'))
    expect([error.code, isNotDone(error)]).toEqual(['store_error', true])
    taken.release()
    expect((await take(counters, 'w')).outcome).toBe('admitted')
    expect((await used(counters, 'w'))[0]).toBe(1)
    await expect.poll(() => pool.idleCount).toBe(1)
  })

  it('a row locked by another client is waited for until the deadline, and nothing is charged', async () => {
    const pool = database.pool()
    const counters = onPool(pool).open(SCHEMA)
    await take(counters, 'x')
    const holder = await database.pool().connect()
    await holder.query(`begin; select * from quota_rows where key = 'personal:x' for update`)
    // Also where it is decided by what was seen of the row: nothing is sent with its commit that has to wait.
    const error = await errorOf(take(counters, 'x'))
    expect([error.code, isNotDone(error)]).toEqual(['store_error', true])
    await holder.query('rollback')
    holder.release()
    expect((await used(counters, 'x'))[0]).toBe(1)
    expect((await take(counters, 'x')).outcome).toBe('admitted')
    expect((await used(counters, 'x'))[0]).toBe(2)
  })

  it('a statement or lock timeout of client or server ends a call within the deadline', async () => {
    const setup = database.pool()
    await take(onPool(setup).open(SCHEMA), 't')
    const holder = await database.pool().connect()
    await holder.query(`begin; select * from quota_rows where key = 'personal:t' for update`)
    for (const options of [{ query_timeout: 50 }, { lock_timeout: 20 }, { statement_timeout: 20 }]) {
      const pool = database.pool({ ...options, max: 1 })
      const from = ownTime()
      const error = await errorOf(take(onPool(pool).open(SCHEMA), 't'))
      // A client that stops waiting doesn't learn the outcome.
      expect([error.code, isNotDone(error)]).toEqual(['store_error', !('query_timeout' in options)])
      expect(ownTime() - from).toBeLessThan(DEADLINE_MS + SLACK_MS)
    }
    await holder.query('rollback')
    holder.release()
    expect((await used(onPool(setup).open(SCHEMA), 't'))[0]).toBe(1)
  })

  it('a silent server is answered by the failure policy within the deadline, then immediately, until it recovers', async () => {
    const proxy = await startCuttingProxy(database.server.port)
    const url = new URL(database.url)
    url.port = String(proxy.port)
    const pool = poolOf(url.href)
    const store = postgresStore({ pool, deadlineMs: 100 })
    const policy = scoreGatewayPolicy()
    const quota = createQuota({ policy, store, failurePolicy: { read: 'open' } })
    const ask = () => quota.consume({ subject: 'y', operation: 'read' })
    await expect.poll(async () => (await ask()).source).toBe('store')
    proxy.silence(true)
    // Three deadlines that were missed, over half a second, open the circuit; then no call is sent.
    const counters = store.open(SCHEMA)
    await expect
      .poll(async () => {
        expect((await ask()).source).toBe('fallback')
        return (await errorOf(take(counters, 'y'))).message
      })
      .toContain('gets no calls now')
    proxy.silence(false)
    await expect.poll(async () => (await ask()).source, { timeout: 15_000 }).toBe('store')
    await quota.close()
    await pool.end()
    await proxy.stop()
  })
})
