import { postgresTests, startPostgres } from '@scoregw/postgres-server'
import { createQuota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { isNotDone } from '@scoregw/quota/store'
import { CamelCasePlugin, type Kysely } from 'kysely'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { migrateQuota, postgresStore, sqlFactor, sqlOutcomes, sqlSettings } from '../src/index.ts'
import { idOf, ONE, SCHEMA, take, used } from './support/counting.ts'
import { startCuttingProxy } from './support/cutting-proxy.ts'
import { TestDatabase } from './support/database.ts'
import { kyselyOnPool, poolOf } from './support/pool.ts'

const read = { subject: 'u', operation: 'read' } as const

describe.runIf(postgresTests)('PostgreSQL as others set it up', () => {
  const database = new TestDatabase()

  function poolTo(url: string, options: pg.PoolConfig = {}): pg.Pool {
    const pool = poolOf(url, options)
    onTestFinished(() => pool.end())
    return pool
  }

  it('the tables may be in a schema, and the plugins of the application’s Kysely change nothing', async () => {
    const url = await database.server.createDatabase()
    const plain: Kysely<unknown> = kyselyOnPool(poolTo(url, { max: 4 }))
    const db = plain.withPlugin(new CamelCasePlugin()).withSchema('elsewhere')
    await migrateQuota(db, { dialect: 'postgres', schema: 'app' })
    await migrateQuota(db, { dialect: 'postgres', schema: 'app' })
    const store = postgresStore({ pool: poolTo(url), schema: 'app', deadlineMs: 5_000 })
    await store.ready()
    const settingsStore = sqlSettings({ db, schema: 'app' })
    const quota = createQuota({ policy: scoreGatewayPolicy(), store, settingsStore, logger: false })
    onTestFinished(() => quota.close())
    await quota.settings.update({ limits: { 'personal-read-1h': 7 } })
    await quota.settings.update({ limits: { 'personal-read-1h': 8 } })
    expect(await quota.consume(read)).toMatchObject({ allowed: true, source: 'store' })
    await plain.transaction().execute(async (transaction) => {
      const within = transaction.withPlugin(new CamelCasePlugin())
      expect(await quota.inTransaction(within).consume(read)).toMatchObject({ allowed: true })
    })
    const factor = sqlFactor({ db, schema: 'app' })
    const outcomes = sqlOutcomes({ db, schema: 'app' })
    const none = {
      calls: 3,
      codeZero: 0,
      clientError: 0,
      serverError: 0,
      businessFail: 0,
      refused: 0,
      quotaUnavailable: 0,
    }
    await outcomes.add([{ minute: 5, ...none }])
    expect(await outcomes.read(0, 9)).toEqual([{ minute: 5, ...none }])
    expect(await factor.read()).toBeUndefined()
    const { rows } = await poolTo(url).query("select count(*)::int as n from pg_tables where schemaname = 'app'")
    expect(rows[0].n).toBeGreaterThan(8)
  })

  it('a subject that the database’s encoding lacks fails only its own call', async () => {
    const admin = database.pool()
    await admin.query("create database latin encoding 'LATIN1' locale 'C' template template0")
    const url = new URL(database.url)
    url.pathname = 'latin'
    await migrateQuota(kyselyOnPool(poolTo(url.href)), { dialect: 'postgres' })
    const counters = postgresStore({ pool: poolTo(url.href), deadlineMs: 5_000 }).open(SCHEMA)
    await take(counters, 'first')
    const outcome = (subject: string, id?: string) =>
      take(counters, subject, id === undefined ? undefined : idOf(id)).then(
        ({ outcome: is }) => is,
        (error: Error) => [isNotDone(error), error.message.includes('LATIN1')],
      )
    for (const others of [
      ['a', 'b'],
      ['a', 'b', 'c', 'd', 'e', 'f'],
    ]) {
      const outcomes = await Promise.all(['用户', ...others].map((subject) => outcome(subject)))
      expect(outcomes).toEqual([[true, true], ...others.map(() => 'admitted')])
    }
    expect(await Promise.all([outcome('g', 'ok'), outcome('h', '用户'), outcome('a\0\ud800')])).toEqual([
      'admitted',
      [true, true],
      'admitted',
    ])
    expect((await used(counters, 'a'))[0]).toBe(2)
  })

  it('holds work with array_nulls off', async () => {
    const counters = postgresStore({ pool: database.pool({ options: '-c array_nulls=off' }), deadlineMs: 5_000 }).open(
      SCHEMA,
    )
    const hold = { subject: 'nulls', set: 0, id: idOf('held') }
    const quotas = { layers: [0, 1], limits: [1e9, 1e9] }
    const taken = await counters.take({ ...hold, quotas, costs: [5, 0], hold: { ttlMs: 600_000, maxHolds: 10 } })
    expect(taken.outcome).toBe('admitted')
    await counters.holds.settle({ ...hold, as: 'committed', actual: [3], overrun: 'refuse', maxOverrun: [0], quotas })
    expect((await used(counters, 'nulls'))[0]).toBe(3)
  })

  it('a pool with binary answers is refused, with the remedy', () => {
    const pool = new pg.Pool(Object.assign({ connectionString: database.url }, { binary: true }))
    expect(() => postgresStore({ pool })).toThrow(/pool: its answers are binary/)
  })

  it('after a failover behind one address, calls reach the new primary', async () => {
    const other = await startPostgres()
    onTestFinished(() => other.stop())
    const url = new URL(await other.createDatabase())
    await migrateQuota(kyselyOnPool(poolTo(url.href)), { dialect: 'postgres' })
    const proxy = await startCuttingProxy(other.port)
    onTestFinished(() => proxy.stop())
    const there = new URL(url)
    there.port = String(proxy.port)
    const counters = postgresStore({ pool: poolTo(there.href), deadlineMs: 5_000 }).open(SCHEMA)
    for (const _ of [1, 2]) await take(counters, 'moved')
    // The database with the same name on the server that takes over.
    await database.pool().query(`create database ${url.pathname.slice(1)}`)
    const next = new URL(database.url)
    next.pathname = url.pathname
    await migrateQuota(kyselyOnPool(poolTo(next.href)), { dialect: 'postgres' })
    // What was the primary goes on as a read-only server, and keeps its connections.
    await other.sql('alter system set default_transaction_read_only = on')
    await other.sql('select pg_reload_conf()')
    proxy.leadTo(database.server.port)
    await expect
      .poll(async () => (await other.sql('show default_transaction_read_only'))[0])
      .toEqual({
        default_transaction_read_only: 'on',
      })
    const outcomes: string[] = []
    for (let call = 0; call < 20; call++)
      outcomes.push((await take(counters, 'moved', call % 2 ? idOf(`${call}`) : undefined)).outcome)
    expect(new Set(outcomes)).toEqual(new Set(['admitted']))
    expect((await used(counters, 'moved'))[0]).toBe(20)
  })

  it('a connection that misses a deadline gets no further calls', async () => {
    const proxy = await startCuttingProxy(database.server.port)
    onTestFinished(() => proxy.stop())
    const url = new URL(database.url)
    url.port = String(proxy.port)
    const counters = postgresStore({ pool: poolTo(url.href, { max: 2 }), deadlineMs: 600 }).open(SCHEMA)
    for (const _ of [1, 2]) await take(counters, 'hole')
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((subject) => take(counters, subject)))
    proxy.freeze()
    const failed: number[] = []
    for (let call = 0; call < 12; call++) await take(counters, 'hole').then(undefined, () => failed.push(call))
    expect(
      failed.every((call) => call < 3),
      String(failed),
    ).toBe(true)
    expect(failed.length).toBeGreaterThan(0)
  })

  it('a client of pg is a transaction after BEGIN; a pool is none', async () => {
    const store = postgresStore({ pool: database.pool(), deadlineMs: 5_000 })
    const pool = database.pool()
    const quotas = { layers: [0, 1], limits: [1e9, 1e9] }
    const request = { subject: 'client', set: 0, quotas, costs: ONE }
    const client = await pool.connect()
    for (const end of ['rollback', 'commit'] as const) {
      await client.query('begin')
      expect((await store.inTransaction(SCHEMA, client).take(request)).outcome).toBe('admitted')
      await client.query(end)
    }
    expect((await used(store.open(SCHEMA), 'client'))[0]).toBe(1)
    for (const wrong of [pool, client]) {
      expect(() => store.inTransaction(SCHEMA, wrong)).toThrow(/expected an open transaction/)
    }
    client.release()
  })

  it('a commit that the server answers with a rollback is not taken as one', async () => {
    const pool = database.pool({ max: 1 })
    let rolledBack = 0
    pool.on('connect', (client) => {
      const query = client.query.bind(client)
      client.query = ((config: pg.QueryConfig) => {
        if (config.text !== 'commit' || rolledBack > 0) return query(config)
        rolledBack++
        // After an error, the server answers COMMIT by ROLLBACK.
        void query('select 1 / 0').catch(() => undefined)
        return query(config)
      }) as typeof client.query
    })
    const counters = postgresStore({ pool, deadlineMs: 5_000 }).open(SCHEMA)
    expect((await take(counters, 'commit', idOf('commit'))).outcome).toBe('admitted')
    expect([rolledBack, (await used(counters, 'commit'))[0]]).toEqual([1, 1])
  })

  it('holds of a user and of a team with the same key are counted apart', async () => {
    const store = postgresStore({ pool: database.pool(), deadlineMs: 5_000 })
    const layers = SCHEMA.layers.slice(0, 1)
    const [users, teams] = ['user', 'team'].map((name) => {
      return store.open({ ...SCHEMA, layers: layers.map((layer) => ({ ...layer, name })), sets: [[0]] })
    })
    const quotas = { layers: [0], limits: [1e9] }
    const held = async (counters: typeof users, id: string) => {
      const hold = { ttlMs: 600_000, maxHolds: 1 }
      const request = { subject: 'same', set: 0, quotas, costs: [1, 0], id: idOf(id), hold }
      return (await counters?.take(request))?.outcome
    }
    expect([await held(users, '1'), await held(teams, '2')]).toEqual(['admitted', 'admitted'])
    expect([await held(users, '3'), await held(teams, '4')]).toEqual(['too_many_holds', 'too_many_holds'])
    expect((await teams?.holds.list({ subject: 'same' }))?.holds).toHaveLength(1)
  })
})
