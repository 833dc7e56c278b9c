import { randomUUID } from 'node:crypto'
import { postgresTests } from '@scoregw/postgres-server'
import type { Clock } from '@scoregw/quota'
import { cellsIn, windowCell } from '@scoregw/quota/internal'
import type { CellSchema, StoreSchema, TakeRequest } from '@scoregw/quota/store'
import { uniform, withCells } from '@scoregw/quota-histories'
import { manualClock } from '@scoregw/quota-testkit'
import type pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresStore, postgresStore, type SqlCounters, sqlSettings } from '../src/index.ts'
import { idOf, ONE, SCHEMA, take, used } from './support/counting.ts'
import { TestDatabase } from './support/database.ts'
import { kyselyOnPool } from './support/pool.ts'
import { apart } from './support/schemas.ts'

describe.runIf(postgresTests)('the statement of a take', () => {
  const database = new TestDatabase()

  interface Process {
    readonly counters: SqlCounters
    readonly store: PostgresStore
    /** Its statements that charge rows, and those that lock them for a step. */
    readonly sent: string[]
  }

  /** A store of a process of its own, which has charged something. */
  async function process(schema: StoreSchema = SCHEMA, testClock?: Clock): Promise<Process> {
    const sent: string[] = []
    const pool = database.pool({ max: 1 })
    pool.on('connect', (client) => {
      const query = client.query.bind(client)
      client.query = ((config: pg.QueryConfig) => {
        if (/set_config\('lock_timeout'/.test(config.text)) sent.push('take')
        if (/on conflict \(key\) do update set layout = r.layout where false/.test(config.text)) sent.push('lock')
        return query(config)
      }) as typeof client.query
    })
    const store = postgresStore({ pool, deadlineMs: 5_000, testClock })
    onTestFinished(() => store.close())
    const counters = store.open(schema)
    const layers = schema.layers.map((_, index) => index)
    const limits = schema.layers.flatMap(({ cells }) => cells.map(() => 1e9))
    const subject = Object.fromEntries(schema.layers.map(({ name, by = name }) => [by, 'first']))
    const costs = [...schema.units.map(() => 1), 0]
    // The first is locked for, and the connection learns the statement with the second.
    for (const _ of [1, 2]) await counters.take({ subject, set: 0, quotas: { layers, limits }, costs })
    sent.length = 0
    return { counters, sent, store }
  }

  let marks = 0

  /** Writes a mark to the server's log, and returns the errors that came since the last one. */
  async function logged(): Promise<string[]> {
    const last = `mark_${marks}`
    const mark = `mark_${++marks}`
    await database
      .pool({ max: 1 })
      .query(`select ${mark}`)
      .catch(() => undefined)
    const isMark = (line: string): boolean => line.includes(`"${mark}"`)
    await expect.poll(() => database.server.log().split('\n').some(isMark)).toBe(true)
    const lines = database.server.log().split('\n')
    const since = lines.slice(lines.findLastIndex((line) => line.includes(`"${last}"`)) + 1, lines.findIndex(isMark))
    return since.filter((line) => /ERROR|FATAL|PANIC/.test(line))
  }

  it('few takes of a tick are one statement each, even for new subjects', async () => {
    const { counters, sent } = await process()
    const answers = await Promise.all([take(counters, 'a'), take(counters, 'a'), take(counters, 'b')])
    expect(sent).toEqual(['take', 'take', 'take'])
    expect(answers.map(({ outcome, states }) => [outcome, states[1]])).toEqual([
      ['admitted', 1],
      ['admitted', 2],
      ['admitted', 1],
    ])
    expect(Math.abs((answers[0]?.now ?? 0) - Date.now())).toBeLessThan(60_000)
    expect((await used(counters, 'a'))[0]).toBe(2)
  })

  it('a take without room is refused without a lock, and the server logs nothing', async () => {
    const { counters, sent } = await process()
    await take(counters, 'full')
    sent.length = 0
    const quotas = { layers: [0, 1], limits: [1, 1e9] }
    const full: TakeRequest = { subject: 'full', set: 0, quotas, costs: ONE }
    await logged()
    const [admitted, refused] = await Promise.all([take(counters, 'c'), counters.take(full)])
    expect(sent).toEqual(['take', 'take'])
    expect(await logged()).toEqual([])
    expect([admitted.outcome, refused.outcome]).toEqual(['admitted', 'refused'])
    expect([admitted.states[1], refused.states[1]]).toEqual([1, 1])
  })

  it('the server logs no error for refusals by own rows, together and under ids and holds, and one for a full shared row', async () => {
    const { counters } = await process()
    await take(counters, 'own')
    const [, shared] = await used(counters, 'own')
    const request = (more: Partial<TakeRequest> = {}): TakeRequest => {
      return { subject: 'own', set: 0, quotas: { layers: [0, 1], limits: [1, 1e9] }, costs: ONE, ...more }
    }
    await logged()
    const hold = { ttlMs: 600_000, maxHolds: 10 }
    for (const count of [1, 4, 10]) {
      // Alone first: takes of one tick are a step together, if one of them has an id.
      const requested = await Promise.all(Array.from({ length: count }, () => counters.take(request())))
      const underIds = ['id', 'hold'].map((kind) => {
        return counters.take(request({ id: idOf(`${kind} ${count}`), ...(kind === 'hold' ? { hold } : {}) }))
      })
      const outcomes = [...requested, ...(await Promise.all(underIds))].map(({ outcome }) => outcome)
      expect(new Set(outcomes)).toEqual(new Set(['refused']))
    }
    expect(await logged()).toEqual([])
    expect((await used(counters, 'own'))[1]).toBe(shared)
    const full = { layers: [0, 1], limits: [1e9, shared] }
    expect((await counters.take(request({ quotas: full }))).outcome).toBe('refused')
    expect(await logged()).toEqual([expect.stringContaining('division by zero')])
  })

  it('takes that can never fit are refused without a statement', async () => {
    const { counters, sent } = await process()
    const quotas = { layers: [0, 1], limits: [0, 1e9] }
    const requested = ['f', 'g'].map((subject) => counters.take({ subject, set: 0, quotas, costs: ONE }))
    expect((await Promise.all(requested)).map(({ outcome }) => outcome)).toEqual(['refused', 'refused'])
    expect(sent).toEqual([])
  })

  it('a full shared row undoes the charge of the own row', async () => {
    const { counters, sent } = await process()
    const [, before] = await used(counters, 'd')
    const request = (subject: string): TakeRequest => {
      return { subject, set: 0, quotas: { layers: [0, 1], limits: [1e9, before + 1] }, costs: ONE }
    }
    sent.length = 0
    const answers = await Promise.all([counters.take(request('d')), counters.take(request('e'))])
    expect(answers.map(({ outcome }) => outcome).sort()).toEqual(['admitted', 'refused'])
    expect(sent).toEqual(['take', 'take'])
    const all = await Promise.all([used(counters, 'd'), used(counters, 'e')])
    expect(all.map(([own]) => own).sort()).toEqual([0, 1])
    expect(all[0][1]).toBe(before + 1)
  })

  it('a take with several rows of its own adds to all of them or to none', async () => {
    const layers = ['user', 'team'].map((name) => ({ name, shared: false }))
    const schema = apart(
      uniform(SCHEMA.units, SCHEMA.layers[0]!.cells, [...layers, { name: 'site', shared: true }]),
      'teams',
    )
    const { counters, sent } = await process(schema)
    const request = (user: string, team: string, limit: number, ofUser = 1e9): TakeRequest => {
      const quotas = { layers: [0, 1, 2], limits: [ofUser, limit, 1e9] }
      return { subject: { user, team }, set: 0, quotas, costs: ONE }
    }
    await counters.take(request('u', 'full', 1))
    sent.length = 0
    await logged()
    const requested = [request('u', 'full', 1), request('v', 'full', 1), request('w', 'room', 1)]
    const answers = await Promise.all(requested.map((each) => counters.take(each)))
    expect(answers.map(({ outcome }) => outcome)).toEqual(['refused', 'refused', 'admitted'])
    expect(sent).toEqual(['take', 'take', 'take'])
    // The team's row comes first, so the user's is the one that is checked before.
    expect((await counters.take(request('w', 'room', 1e9, 1))).outcome).toBe('refused')
    expect(await logged()).toEqual([])
    const { states } = await counters.read({ subject: { user: 'v', team: 'full' }, set: 0, layers: [0, 1, 2] })
    expect(states.filter((_, index) => index % 2 === 1)).toEqual([0, 1, 4])
  })

  it('the statement opens ended windows, but only those that the cost concerns', async () => {
    const cells = cellsIn(
      ['requests', 'tokens'],
      [windowCell({ label: 'short', lengthMs: 1 }, 'requests'), windowCell({ label: 'long', lengthMs: 3_600_000 })],
    )
    const schema = apart(uniform(['requests', 'tokens'], cells, SCHEMA.layers), 'units')
    const { counters, sent } = await process(schema)
    const subject = randomUUID()
    const quotas = { layers: [0, 1], limits: [1, 1e9, 1e9, 1e9] }
    const requested = (costs: readonly number[]) => counters.take({ subject, set: 0, quotas, costs })
    const shortStart = async (): Promise<number | undefined> => {
      return (await counters.read({ subject, set: 0, layers: [0, 1] })).states[0]
    }
    const first = await requested([1, 5, 0])
    await expect.poll(shortStart).toBe(-1)
    expect((await requested([1, 5, 0])).outcome).toBe('admitted')
    await expect.poll(shortStart).toBe(-1)
    const third = await requested([0, 5, 0])
    expect(sent).not.toContain('lock')
    expect(third.states[3]).toBe(15)
    expect([third.states[2], third.states[0]]).toEqual([first.states[2], -1])
  })

  it('the statement never has a row deleted earlier than before, nor one that is kept for its slots', async () => {
    const cells = cellsIn(
      ['requests', 'tokens'],
      [windowCell({ label: '1m', lengthMs: 60_000 }, 'requests'), windowCell({ label: '1h', lengthMs: 3_600_000 })],
    )
    const { counters, sent } = await process(apart(uniform(['requests', 'tokens'], cells, SCHEMA.layers), 'kept'))
    const subject = randomUUID()
    const quotas = { layers: [0, 1], limits: [1e9, 1e9, 1e9, 1e9] }
    const admin = database.pool({ max: 1 })
    const endsAfter = async (costs: readonly number[]): Promise<unknown> => {
      await counters.take({ subject, set: 0, quotas, costs })
      const { rows } = await admin.query(`select ends_at from quota_rows where key like '%${subject}'`)
      return rows[0].ends_at
    }
    const ends = await endsAfter([1, 1, 0])
    expect(Number(ends)).toBeGreaterThan(Date.now() + 3_600_000)
    expect(await endsAfter([1, 0, 0])).toBe(ends)
    await admin.query(`update quota_rows set ends_at = null where key like '%${subject}'`)
    expect(await endsAfter([1, 0, 0])).toBe(null)
    expect(sent).toEqual(['take', 'take', 'take'])
  })

  it('the statement opens a window again at its exact end, even if there is room in the last one', async () => {
    const clock = manualClock()
    const cells = cellsIn(['tokens'], [windowCell({ label: '1m', lengthMs: 60_000 })])
    const { counters, sent } = await process(apart(withCells(SCHEMA, cells), 'ends'), clock)
    const quotas = { layers: [0, 1], limits: [10, 1e9] }
    const begin = clock.now()
    const requested = async (tokens: number) => {
      const { states } = await counters.take({ subject: 'b', set: 0, quotas, costs: [tokens, 0] })
      return [(states[0] ?? 0) - begin, states[1]]
    }
    expect(await requested(1)).toEqual([0, 1])
    clock.advance(59_999)
    expect(await requested(1)).toEqual([0, 2])
    clock.advance(1)
    expect(await requested(1)).toEqual([60_000, 1])
    expect(sent).toEqual(['take', 'take', 'take'])
  })

  it('the statement refills a bucket and moves its start when that is old', async () => {
    const cells = cellsIn(['tokens'], [windowCell({ label: '1m', lengthMs: 60_000, burst: 10 })])
    const clock = manualClock()
    const { counters, sent } = await process(apart(withCells(SCHEMA, cells), 'bucket'), clock)
    const quotas = { layers: [0, 1], limits: [10, 1e9], rates: [10, 1e9] }
    const begin = clock.now()
    const requested = async (tokens: number) => {
      const { outcome, states } = await counters.take({ subject: 'b', set: 0, quotas, costs: [tokens, 0] })
      return [outcome, (states[0] ?? 0) - begin, states[1]]
    }
    expect(await requested(10)).toEqual(['admitted', 0, 10])
    clock.advance(30_000)
    expect(await requested(5)).toEqual(['admitted', 0, 15])
    clock.advance(30_000)
    expect(await requested(5)).toEqual(['admitted', 60_000, 10])
    clock.advance(59_999)
    expect(await requested(9)).toEqual(['admitted', 60_000, 19])
    clock.advance(60_001)
    expect(await requested(10)).toEqual(['admitted', 180_000, 10])
    clock.advance(120_000)
    expect(await requested(5)).toEqual(['admitted', 300_000, 5])
    // It is full again, to the millisecond.
    clock.advance(30_000)
    expect(await requested(1)).toEqual(['admitted', 330_000, 1])
    expect(sent).toEqual(Array.from({ length: 7 }, () => 'take'))
  })

  it('a bucket without a limit has at most the largest safe integer', async () => {
    const cells = cellsIn(['tokens'], [windowCell({ label: '1m', lengthMs: 60_000, burst: 10 })])
    const clock = manualClock()
    const { counters } = await process(apart(uniform(['tokens'], cells, SCHEMA.layers.slice(0, 1)), 'unlimited'), clock)
    const quotas = { layers: [0], limits: [Number.POSITIVE_INFINITY], rates: [10] }
    const begin = clock.now()
    const requested = async (tokens: number) =>
      (await counters.take({ subject: 'm', set: 0, quotas, costs: [tokens, 0] })).states
    expect(await requested(Number.MAX_SAFE_INTEGER)).toEqual([begin, Number.MAX_SAFE_INTEGER])
    // 4 tokens came back, so there is room for one, but not in the stored number.
    clock.advance(12_000)
    expect(await requested(1)).toEqual([begin, Number.MAX_SAFE_INTEGER])
  })

  it('a row of another policy is read by its own limits, even if the cost doesn’t concern it', async () => {
    const units = ['requests', 'tokens']
    const hour = windowCell({ label: '1h', lengthMs: 3_600_000 }, 'requests')
    const day = (unit: string) => windowCell({ label: '1d', lengthMs: 86_400_000 }, unit)
    const layered = (ofTeam: readonly CellSchema[]): StoreSchema => {
      const layers = [cellsIn(units, [hour]), ofTeam].map((cells, at) => {
        return { name: ['user', 'team'][at]!, shared: false, cells }
      })
      return apart({ units, layers, sets: [[...layers.flatMap(({ cells }) => cells).keys()]] }, 'uncharged')
    }
    const schema = layered(cellsIn(units, [day('tokens')]))
    const { counters, sent, store } = await process(schema)
    const other = store.open(layered(cellsIn(units, [day('requests'), day('tokens')])))
    const subject = { user: 'u', team: 't' }
    const requested = (to: SqlCounters, limits: number, costs: readonly number[]) =>
      to.take({ subject, set: 0, quotas: { layers: [0, 1], limits: Array<number>(limits).fill(1e9) }, costs })
    await requested(other, 3, [5, 7, 0])
    sent.length = 0
    const { states } = await requested(counters, 2, [1, 0, 0])
    expect([states[1], states[3]]).toEqual([6, 7])
    expect(sent).toContain('lock')
  })

  it('takes are decided again when the settings changed', async () => {
    const { counters, sent } = await process()
    const quotas = { layers: [0, 1], limits: [1e9, 1e9] }
    const request: TakeRequest = { subject: 's', set: 0, quotas, costs: ONE, settingsRevision: '' }
    expect((await counters.take(request)).outcome).toBe('admitted')
    const settings = sqlSettings({ db: kyselyOnPool(database.pool()) })
    const { revision } = await settings.write({ mode: 'normal' }, {})
    expect(await counters.take(request)).toMatchObject({ outcome: 'stale', settingsRevision: revision })
    expect(sent).toEqual(['take', 'take'])
    expect((await used(counters, 's'))[0]).toBe(1)
    await settings.write(null, {})
  })

  it('takes lock the row after a reset or a write by another policy', async () => {
    const schema = apart(SCHEMA, 'two-policies')
    const { counters, sent, store } = await process(schema)
    const start = (await take(counters, 'r')).states[0] ?? 0
    await counters.reset({ subject: 'r', limits: [0] })
    sent.length = 0
    const again = await take(counters, 'r')
    expect(again.states[0]).toBeGreaterThan(start)
    expect(sent).toContain('lock')
    const cells = cellsIn(['tokens'], [windowCell({ label: '5h', lengthMs: 5 * 3_600_000 })])
    await take(store.open(withCells(schema, cells)), 'r')
    sent.length = 0
    expect((await take(counters, 'r')).states[1]).toBe(2)
    expect(sent).toContain('lock')
  })

  it('rows are locked in one order in all processes, whatever plan the server chooses', async () => {
    const { counters, sent } = await process()
    const admin = database.pool()
    await take(counters, 'one')
    await take(counters, 'two')
    await admin.query(
      `insert into quota_rows (key, layout, ends_at) select 'personal:other ' || i, 0, 0 from generate_series(1, 60) i;
      update quota_rows set u1 = u1 where key = 'personal:one'; analyze quota_rows`,
    )
    const holder = await admin.connect()
    await holder.query("begin; select * from quota_rows where key = 'personal:one' for update")
    const taken = Promise.all(['two', 'one', 'three', 'four', 'five'].map((subject) => take(counters, subject)))
    const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    await expect.poll(async () => (await admin.query(waiting)).rowCount).toBe(1)
    expect(sent).toContain('lock')
    // Own rows, then shared ones: what comes after the row that is waited for is free.
    await holder.query("select * from quota_rows where key in ('personal:two', 'site:') for update nowait; commit")
    holder.release()
    expect((await taken).map(({ outcome }) => outcome)).toEqual(Array(5).fill('admitted'))
  })
})
