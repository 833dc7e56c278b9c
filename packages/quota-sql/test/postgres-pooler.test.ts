import { type PoolMode, postgresTests, startPgBouncer } from '@scoregw/postgres-server'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { postgresStore, sqlSettings } from '../src/index.ts'
import { idOf, SCHEMA, take, used } from './support/counting.ts'
import { TestDatabase } from './support/database.ts'
import { kyselyOnPool, poolOf } from './support/pool.ts'

const ROUNDS = 10
const CALLERS = 8

describe.runIf(postgresTests).each<PoolMode>(['session', 'transaction'])('PgBouncer in %s mode', (mode) => {
  const database = new TestDatabase()
  const url = new URL('postgres://localhost')
  let stop: (() => Promise<void>) | undefined

  beforeAll(async () => {
    const pooler = await startPgBouncer(database.server.port, mode)
    stop = pooler.stop
    url.href = database.url
    url.port = String(pooler.port)
  })
  afterAll(() => stop?.())

  function poolTo(options: pg.PoolConfig): pg.Pool {
    const pool = poolOf(url.href, options)
    onTestFinished(() => pool.end())
    return pool
  }

  it.each([true, false])('counts of several processes are exact (pipeline: %s)', async (pipeline) => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue()
    onTestFinished(() => warned.mockRestore())
    const stores = [1, 2].map(() => postgresStore({ pool: poolTo({ pipeline }), deadlineMs: 10_000 }))
    for (const store of stores) onTestFinished(() => store.close())
    await Promise.all(stores.map((store) => store.ready()))
    const processes = stores.map((store) => store.open(SCHEMA))
    const before = await used(processes[0]!, 'none')
    const subject = `subject ${pipeline}`
    const quotas = { layers: [0, 1], limits: [1e9, 1e9] }
    for (let round = 0; round < ROUNDS; round++) {
      const taken = Array.from({ length: CALLERS }, (_, caller) => {
        const id = caller % 4 === 0 ? idOf(`${pipeline} ${round} ${caller}`) : undefined
        return take(processes[caller % 2]!, subject, id)
      })
      for (const { outcome } of await Promise.all(taken)) expect(outcome).toBe('admitted')
      const hold = { subject, set: 0, id: idOf(`hold ${pipeline} ${round}`), quotas }
      const { holds } = processes[round % 2]!
      await processes[0]!.take({ ...hold, costs: [5, 0], hold: { ttlMs: 600_000, maxHolds: 10 } })
      await holds.settle({ ...hold, as: 'committed', actual: [2], overrun: 'refuse', maxOverrun: [0] })
    }
    const sum = ROUNDS * (CALLERS + 2)
    for (const counters of processes) expect(await used(counters, subject)).toEqual([sum, (before[1] ?? 0) + sum])
    const codes = warned.mock.calls.map(([, options]) => (options as { readonly code?: string }).code)
    // Each process warns once.
    expect(codes).toEqual(mode === 'session' ? [] : ['transaction_pooling', 'transaction_pooling'])
  })

  it('settings and decisions in a transaction work', async () => {
    const pool = poolTo({ max: 3 })
    const settings = sqlSettings({ db: kyselyOnPool(pool) })
    const store = postgresStore({ pool: poolTo({}), deadlineMs: 10_000 })
    onTestFinished(() => store.close())
    for (let write = 1; write < 5; write++) {
      await settings.write({ mode: 'normal', write }, {})
      expect(await settings.read()).toMatchObject({ document: { write }, version: write })
    }
    const client = await pool.connect()
    for (const end of ['rollback', 'commit'] as const) {
      await client.query('begin')
      expect((await take(store.inTransaction(SCHEMA, client), 'within')).outcome).toBe('admitted')
      await client.query(end)
    }
    client.release()
    expect((await used(store.open(SCHEMA), 'within'))[0]).toBe(1)
  })
})
