import { cellsIn, GRACE_MS, hash32, windowCell } from '@scoregw/quota/internal'
import { withCells } from '@scoregw/quota-histories'
import { manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it } from 'vitest'
import { quotaSchemaSql, sqliteStore, syncSqliteStore } from '../src/index.ts'
import { idOf, ONE, SCHEMA, take } from './support/counting.ts'
import { connectTo } from './support/sqlite.ts'

function tables() {
  const database = connectTo(':memory:')
  database.exec(quotaSchemaSql({ dialect: 'sqlite' }))
  const cells = (): string =>
    (database.prepare('select cells from quota_rows').all() as { cells: string }[])[0]?.cells ?? ''
  const select = 'select list from quota_layouts where hash = (select layout from quota_rows limit 1)'
  const layoutOf = (): string => (database.prepare(select).all() as { list: string }[])[0]?.list ?? ''
  return { database, cells, layoutOf }
}

describe('stored rows', () => {
  it('a known id has its earlier answer, whatever settings are in force', async () => {
    const { database } = tables()
    const counters = sqliteStore({ database, clock: manualClock() }).open(SCHEMA)
    const quotas = { layers: [0], limits: [10] }
    const request = { subject: 'u', set: 0, quotas, costs: ONE, id: idOf('job') }
    const replies = [
      await counters.take({ ...request, settingsRevision: '' }),
      await counters.take({ ...request, settingsRevision: 'another' }),
      await counters.take({ ...request, id: undefined, settingsRevision: 'another' }),
    ]
    expect(replies.map(({ outcome }) => outcome)).toEqual(['admitted', 'admitted', 'stale'])
  })

  it('an expired id is forgotten for good, whatever the clock does later', async () => {
    const { database } = tables()
    const clock = manualClock()
    const counters = sqliteStore({ database, clock }).open(SCHEMA)
    const quotas = { layers: [0], limits: [10] }
    const takeBy = async (nonce: string, cost: number): Promise<string> => {
      const id = { id: 'job', nonce, fingerprint: 'work', ttlMs: 1_000 }
      return (await counters.take({ subject: 'u', set: 0, quotas, costs: [cost, 0], id })).outcome
    }
    expect(await takeBy('a', 1)).toBe('admitted')
    clock.advance(999)
    expect(await takeBy('b', 1)).toBe('duplicate')
    clock.advance(1)
    expect(await takeBy('b', 100)).toBe('refused')
    clock.advance(-1)
    expect(await takeBy('b', 1)).toBe('admitted')
  })

  it('the row that counts a subject’s holds is kept for minutes after the last and rarely written', async () => {
    const { database } = tables()
    const clock = manualClock()
    const counters = sqliteStore({ database, clock }).open(SCHEMA)
    const hold = { ttlMs: 1_000, slot: false, maxHolds: 10 }
    const quotas = { layers: [0], limits: [100] }
    const endsAt = async (id: string): Promise<unknown> => {
      const reservationId = { id, nonce: id, fingerprint: 'work', ttlMs: 1_000 }
      await counters.take({ subject: 'u', set: 0, quotas, costs: [1, 0], id: reservationId, hold })
      const found = database.prepare("select ends_at from quota_rows where key like ':%'").all()
      return (found as { ends_at: unknown }[])[0]?.ends_at
    }
    const first = clock.now() + 600_000
    expect(await endsAt('a')).toBe(first)
    clock.advance(300_000)
    expect(await endsAt('b')).toBe(first)
    clock.advance(1)
    expect(await endsAt('c')).toBe(first + 300_001)
  })

  it('a row with a limit that this version doesn’t know is reported, and others work', async () => {
    const { database, layoutOf } = tables()
    const clock = manualClock()
    const counters = sqliteStore({ database, clock }).open(SCHEMA)
    await take(counters, 'u')
    const list = `later kind of limit\n${layoutOf()}`
    database.prepare('insert into quota_layouts values (?, ?)').run(hash32(list), list)
    database.exec(
      `update quota_rows set layout = ${hash32(list)}, cells = '[5,7,' || substr(cells, 2) where key = 'personal:u'`,
    )
    // By another process, which has seen nothing of it yet.
    const others = sqliteStore({ database, clock }).open(SCHEMA)
    await expect(take(others, 'u')).rejects.toMatchObject({ code: 'damaged_row' })
    expect((await take(others, 'v')).outcome).toBe('admitted')
  })

  it('a row drops another policy’s counter when that has ended and becomes a plain row', async () => {
    const { database, cells, layoutOf } = tables()
    const clock = manualClock()
    const store = sqliteStore({ database, clock })
    const other = withCells(SCHEMA, cellsIn(['tokens'], [windowCell({ label: '1m', lengthMs: 60_000 })]))
    const [both, plain] = ['rolling 1h 3600000\nrolling 1m 60000', 'rolling 1h 3600000']
    await take(store.open(other), 'u')
    await take(store.open(SCHEMA), 'u')
    expect(layoutOf()).toBe(both)
    expect(JSON.parse(cells())).toEqual([clock.now(), 1, clock.now(), 1])
    clock.advance(60_000)
    await take(store.open(SCHEMA), 'u')
    expect(layoutOf()).toBe(both)
    clock.advance(GRACE_MS)
    await take(store.open(SCHEMA), 'u')
    expect(layoutOf()).toBe(plain)
    expect(JSON.parse(cells())[1]).toBe(3)
  })

  it('a list of limits that was rolled back with its transaction is stored before the next row with it', async () => {
    const { database } = tables()
    const store = sqliteStore({ database, clock: manualClock() })
    database.exec('begin')
    await take(store.inTransaction(SCHEMA, database), 'u')
    database.exec('rollback')
    const cells = cellsIn(['tokens'], [windowCell({ label: '2h', lengthMs: 7_200_000 })])
    await take(store.open(withCells(SCHEMA, cells)), 'u')
    await take(store.open(SCHEMA), 'v')
    const select = 'select key from quota_rows where layout not in (select hash from quota_layouts)'
    expect(database.prepare(select).all()).toEqual([])
  })

  it('a row whose list of limits has another list’s hash is rejected', async () => {
    const { database } = tables()
    const list = (SCHEMA.layers[0]?.cells ?? []).map(({ identity }) => identity).join('\n')
    database.prepare('insert into quota_layouts values (?, ?)').run(hash32(list), 'another list')
    const counters = sqliteStore({ database, clock: manualClock() }).open(SCHEMA)
    await expect(take(counters, 'u')).rejects.toMatchObject({ code: 'store_mismatch' })
    expect(database.prepare('select count(*) as rows from quota_rows').all()).toEqual([{ rows: 0 }])
  })

  it('a refusal writes no row', async () => {
    const { database, cells } = tables()
    const counters = sqliteStore({ database, clock: manualClock() }).open(SCHEMA)
    await take(counters, 'u')
    const before = [cells(), database.prepare('select total_changes() as changes').all()]
    const quotas = { layers: [0, 1], limits: [1, 1] }
    expect((await counters.take({ subject: 'u', set: 0, quotas, costs: ONE })).outcome).toBe('refused')
    expect([cells(), database.prepare('select total_changes() as changes').all()]).toEqual(before)
  })

  it('the synchronous SQLite store charges and refuses by its stored rows', () => {
    const counters = syncSqliteStore({ database: tables().database }).open(SCHEMA)
    const request = { subject: 'u', set: 0, quotas: { layers: [0, 1], limits: [2, 9] }, costs: ONE }
    expect([1, 2, 3].map(() => counters.take(request).outcome)).toEqual(['admitted', 'admitted', 'refused'])
    expect(counters.read({ subject: 'u', set: 0, layers: [0, 1] }).states[1]).toBe(2)
  })

  it('missing tables and tables of another version are rejected', () => {
    const { database } = tables()
    database.exec('update quota_format set version = 3')
    for (const open of [sqliteStore, syncSqliteStore]) {
      const message = expect.stringMatching(/tables .* version 3 .* reads version 2/)
      expect(() => open({ database })).toThrowError(expect.objectContaining({ code: 'other_version', message }))
    }
    expect(() => sqliteStore({ database: connectTo(':memory:') })).toThrow(/run the migrations/)
    expect(() => sqliteStore({ database, prefix: 'Quota rows' })).toThrow(/prefix/)
  })
})
