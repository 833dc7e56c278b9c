import { randomUUID } from 'node:crypto'
import { postgresTests } from '@scoregw/postgres-server'
import type pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresStore, postgresStore, type SqlCounters, sqlSettings } from '../src/index.ts'
import { postgresStatements } from '../src/postgres/statements.ts'
import { tableNames } from '../src/schema/tables.ts'
import { SCHEMA, take, used } from './support/counting.ts'
import { TestDatabase } from './support/database.ts'
import { kyselyOnPool } from './support/pool.ts'

describe.runIf(postgresTests)('decisions on rows as they were last seen', () => {
  const database = new TestDatabase()

  /** Counters of a process of its own, and the names of the statements that they send. */
  function process(): { readonly counters: SqlCounters; readonly sent: string[]; readonly store: PostgresStore } {
    const sent: string[] = []
    const pool = database.pool()
    pool.on('connect', (client) => {
      const query = client.query.bind(client)
      client.query = ((config: pg.QueryConfig) => {
        sent.push((config.name ?? config.text).replace(/^quota (\w+) 1$/, '$1').slice(0, 20))
        return query(config)
      }) as typeof client.query
    })
    const store = postgresStore({ pool, deadlineMs: 5_000 })
    onTestFinished(() => store.close())
    return { counters: store.open(SCHEMA), sent, store }
  }

  /** The same, having seen a subject's rows. */
  async function knowing(subject: string): Promise<ReturnType<typeof process>> {
    const made = process()
    await take(made.counters, subject)
    made.sent.length = 0
    return made
  }

  it('compare and write the rows in one statement', async () => {
    const { counters, sent } = await knowing('a')
    const answers = await Promise.all([take(counters, 'a'), take(counters, 'a')])
    expect(sent).toEqual([expect.stringMatching(/^begin/), 'swapRows', 'commit'])
    expect(answers.map(({ outcome, states }) => [outcome, states[1]])).toEqual([
      ['admitted', 2],
      ['admitted', 3],
    ])
    expect(Math.abs((answers[0]?.now ?? 0) - Date.now())).toBeLessThan(60_000)
    expect((await used(counters, 'a'))[0]).toBe(3)
  })

  it('are made anew where somebody else has charged, whichever row', async () => {
    const other = process()
    for (const layers of [[0, 1], [0], [1]]) {
      const subject = randomUUID()
      const { counters, sent } = await knowing(subject)
      const [, before] = await used(counters, subject)
      await other.counters.take({ subject, category: 0, quotas: { layers, limits: [1e9, 1e9] }, costs: [10, 0] })
      expect((await take(counters, subject)).outcome).toBe('admitted')
      expect(sent).toContain('swapRows')
      expect(sent).toContain('lockRows')
      const [own, shared] = [layers.includes(0) ? 12 : 2, before + (layers.includes(1) ? 11 : 1)]
      expect(await used(other.counters, subject)).toEqual([own, shared])
    }
  })

  it('are made anew under other settings', async () => {
    const { counters } = await knowing('b')
    const quotas = { layers: [0, 1], limits: [1e9, 1e9] }
    const request = { subject: 'b', category: 0, quotas, costs: [1, 0], settingsRevision: '' }
    expect((await counters.take(request)).outcome).toBe('admitted')
    const settings = sqlSettings({ db: kyselyOnPool(database.pool()) })
    const { revision } = await settings.write({ mode: 'normal' }, {})
    expect(await counters.take(request)).toMatchObject({ outcome: 'stale', settingsRevision: revision })
    expect((await used(counters, 'b'))[0]).toBe(2)
    await settings.write(null, {})
  })

  it('wait for nobody, so that they are in no circle of transactions', async () => {
    const { counters, sent } = await knowing('c')
    const admin = database.pool()
    // As autovacuum does: of a small table of known size the server compares all rows, in the order in which they are stored.
    await admin.query(
      "insert into quota_rows select 'personal', 'read', 'other ' || i, '[]', 0 from generate_series(1, 60) i",
    )
    await admin.query("update quota_rows set cells = cells where subject = 'c'")
    await admin.query('analyze quota_rows')
    const holder = await admin.connect()
    await holder.query("begin; select * from quota_rows where subject = 'c' for update")
    const taken = take(counters, 'c')
    const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    await expect.poll(async () => (await admin.query(waiting)).rowCount).toBe(1)
    expect(sent).toContain('swapRows')
    // In the order of all processes: own rows, then shared ones.
    await holder.query("select * from quota_rows where layer = 'site' for update; commit")
    holder.release()
    expect((await taken).outcome).toBe('admitted')
    expect(database.server.log()).not.toContain('deadlock detected')
  })

  it('hold at the instants alone at which nothing ends', async () => {
    const pool = database.pool()
    await pool.query("insert into quota_rows values ('l', 'c', 's', 'before', null)")
    const swap = async (from: number, to: number): Promise<unknown> => {
      const columns = [['l'], ['c'], ['s'], ['before'], ['after']]
      const values = [...columns, 'l', 'c', 's', 'before', 1, '', from, to]
      return (await pool.query({ text: postgresStatements(tableNames('quota')).swapRows, values, rowMode: 'array' }))
        .rows
    }
    const now = Number(
      (await pool.query('select floor(extract(epoch from clock_timestamp()) * 1000) as now')).rows[0].now,
    )
    await expect(swap(now - 20_000, now - 10_000)).rejects.toMatchObject({ code: '22P02' })
    await expect(swap(now + 60_000, now + 70_000)).rejects.toMatchObject({ code: '22P02' })
    const found = 'select cells from quota_rows where layer = $1'
    expect((await pool.query(found, ['l'])).rows).toEqual([{ cells: 'before' }])
    expect(await swap(now - 60_000, now + 60_000)).toEqual([[true, expect.anything()]])
    expect((await pool.query(found, ['l'])).rows).toEqual([{ cells: 'after' }])
  })

  it('are told to be made by the transaction that made them', async () => {
    const pool = database.pool({ max: 1 })
    const { findWritten } = postgresStatements(tableNames('quota'))
    const transactions: string[] = []
    for (const subject of ['first', 'second']) {
      const insert = 'insert into quota_rows values ($1, $1, $1, $1, null)'
      await pool.query('begin')
      transactions.push((await pool.query('select pg_current_xact_id()::text as id')).rows[0].id)
      await pool.query(insert, [subject])
      await pool.query('commit')
    }
    const found = async (transaction: string | undefined): Promise<number | null> =>
      (await pool.query(findWritten, [['first'], ['first'], ['first'], transaction])).rowCount
    expect(await Promise.all(transactions.map(found))).toEqual([1, 0])
  })
})
