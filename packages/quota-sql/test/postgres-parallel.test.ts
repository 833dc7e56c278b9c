import { postgresTests } from '@scoregw/postgres-server'
import { add, cellsIn, close, Instant, Layout, refund, roll, usedIn, view, windowCell } from '@scoregw/quota/internal'
import { isNotDone } from '@scoregw/quota/store'
import { uniform } from '@scoregw/quota-histories'
import { manualClock } from '@scoregw/quota-testkit'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PostgresStore, postgresStore, type SqlCounters } from '../src/index.ts'
import { idOf } from './support/counting.ts'
import { TestDatabase } from './support/database.ts'
import { poolOf } from './support/pool.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
const RUNS = deep ? 3_000 : 20
const HOT_MS = deep ? Number(process.env.QUOTA_TEST_HOT_MS ?? 600_000) : 1_500
const PROCESSES = deep ? 64 : 8
const LIMITS = [5, 7]
const HOUR_MS = 3_600_000

const ROW_CELLS = cellsIn(
  ['tokens'],
  [1, 5].map((hours) => windowCell({ label: `${hours}h`, lengthMs: hours * HOUR_MS })),
)
const ONE_ROW = uniform(['tokens'], ROW_CELLS, [{ name: 'personal', shared: false }])
const INSTANT = new Instant(new Layout(ONE_ROW))
const CELLS = [0, 1]

interface Operation {
  readonly kind: 'take' | 'give-back' | 'reset' | 'read'
  readonly cost: number
}

/** One call as its client saw it: when it was made and answered, by a counter that all clients share. */
interface Call {
  readonly operation: Operation
  readonly from: number
  readonly until: number
  readonly answer: string
  readonly startedAts: readonly number[]
}

/** What a single machine answers, doing one call after the other; changes the cells. */
function alone({ operation: { kind, cost }, startedAts }: Call, cells: number[], now: number): string {
  INSTANT.moveTo(now, undefined)
  const after = (c: number): number => INSTANT.after[c] ?? 0
  const seen = (): number[] => {
    const states: number[] = []
    for (const c of CELLS) view(cells, 2 * c, after(c), now, states, 2 * c)
    return states
  }
  if (kind === 'take') {
    const admitted = CELLS.every((c) => usedIn(cells, 2 * c, after(c)) + cost <= (LIMITS[c] ?? 0))
    for (const c of admitted ? CELLS : []) {
      roll(cells, 2 * c, after(c), INSTANT.opensAt[c] ?? 0, now)
      add(cells, 2 * c, cost)
    }
    return JSON.stringify([admitted ? 'admitted' : 'refused', seen()])
  }
  for (const c of CELLS) {
    if (kind === 'give-back') refund(cells, 2 * c, startedAts[c] ?? -1, cost, false)
    if (kind === 'reset') close(cells, 2 * c)
  }
  return kind === 'read' ? JSON.stringify(seen()) : ''
}

/** Whether the calls could have been made one after the other, each at some instant between its begin and its end. */
function isLinearizable(calls: readonly Call[], now: number): boolean {
  const dead = new Set<string>()
  const search = (left: readonly Call[], cells: readonly number[]): boolean => {
    if (left.length === 0) return true
    const state = `${left.map(({ from }) => from)} ${cells}`
    if (dead.has(state)) return false
    const firstEnd = Math.min(...left.map(({ until }) => until))
    for (const call of left) {
      const next = [...cells]
      const isNext = call.from <= firstEnd && alone(call, next, now) === call.answer
      if (
        isNext &&
        search(
          left.filter((each) => each !== call),
          next,
        )
      )
        return true
    }
    dead.add(state)
    return false
  }
  return search(calls, [-1, -1, -1, -1])
}

/** What several clients do at once, each one thing after the other. */
async function record(clients: readonly (readonly Operation[])[], all: readonly SqlCounters[]): Promise<Call[]> {
  let tick = 0
  const calls: Call[] = []
  const play = async (operations: readonly Operation[], counters: SqlCounters): Promise<void> => {
    const row = { subject: 'u', set: 0, layers: [0] }
    let states: readonly number[] = []
    for (const operation of operations) {
      const { kind, cost } = operation
      const from = tick++
      const startedAts = states.filter((_, index) => index % 2 === 0)
      let answer = ''
      if (kind === 'take') {
        const reply = await counters.take({ ...row, quotas: { layers: [0], limits: LIMITS }, costs: [cost, 0] })
        if (reply.outcome === 'admitted') states = reply.states
        answer = JSON.stringify([reply.outcome, reply.states])
      } else if (kind === 'give-back') await counters.settle({ ...row, states, refunds: [cost], as: 'cancelled' })
      else if (kind === 'reset') await counters.reset({ subject: 'u', limits: CELLS })
      else answer = JSON.stringify((await counters.read(row)).states)
      calls.push({ operation, from, until: tick++, answer, startedAts })
    }
  }
  await Promise.all(clients.map((operations, client) => play(operations, all[client] as SqlCounters)))
  return calls
}

describe.runIf(postgresTests)('several processes on one PostgreSQL', () => {
  // A circle is found before a statement gives up on its lock.
  const database = new TestDatabase({ settings: { max_connections: '200', deadlock_timeout: '300ms' } })

  it('histories of several processes are linearizable', { timeout: 3_600_000 }, async () => {
    const operation: fc.Arbitrary<Operation> = fc.record({
      kind: fc.constantFrom('take', 'take', 'take', 'give-back', 'reset', 'read'),
      cost: fc.integer({ min: 1, max: 3 }),
    })
    const clock = manualClock()
    const stores: PostgresStore[] = [1, 2, 3, 4].map(() =>
      postgresStore({ pool: database.pool({ max: 1 }), deadlineMs: 10_000, testClock: clock }),
    )
    const all = stores.map((store) => store.open(ONE_ROW))
    const admin = database.pool({ max: 1 })
    let overlapping = 0
    const clients = fc.array(fc.array(operation, { minLength: 2, maxLength: 4 }), { minLength: 4, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(clients, async (each) => {
        await admin.query('delete from quota_rows')
        const calls = await record(each, all)
        overlapping += calls.filter((a) => calls.some((b) => a !== b && a.from < b.until && b.from < a.until)).length
        expect(isLinearizable(calls, clock.now()), JSON.stringify(calls)).toBe(true)
      }),
      { numRuns: RUNS },
    )
    expect(overlapping).toBeGreaterThan(RUNS)
  })

  it('several processes never deadlock and charge what they admit', { timeout: 3_600_000 }, async () => {
    const layers = ['user', 'team', 'org'].map((name) => ({ name, shared: false }))
    const schema = uniform(ONE_ROW.units, ROW_CELLS, [...layers, { name: 'site', shared: true }])
    const quotas = { layers: [0, 1, 2, 3], limits: Array<number>(8).fill(1e9) }
    let [charged, doubtful, tries] = [0, 0, 0]
    const from = performance.now()
    // Of each layer some are new at any instant, the same in all processes.
    const any = (count: number): string => {
      const is = Math.floor(Math.random() * count)
      return is === 0 ? `new ${Math.floor((performance.now() - from) / 20)}` : String(is)
    }
    const processes = Array.from({ length: PROCESSES }, async () => {
      const pool = poolOf(database.url, { max: 1 })
      const store = postgresStore({ pool, deadlineMs: 10_000 })
      const counters = store.open(schema)
      const one = async (): Promise<void> => {
        const row = { subject: { user: `u${any(60)}`, team: `t${any(30)}`, org: `o${any(10)}` }, set: 0 }
        // Half of them, and the refunds, go the general way.
        const id = Math.random() < 0.5 ? undefined : idOf(`${tries++}`)
        const { outcome, states } = await counters.take({ ...row, quotas, costs: [1, 0], id })
        if (outcome !== 'admitted') return
        charged++
        if (Math.random() < 0.8) return
        await counters.settle({ ...row, layers: quotas.layers, states, refunds: [1], as: 'cancelled', id })
        charged--
      }
      const caller = async (): Promise<void> => {
        while (performance.now() - from < HOT_MS) {
          try {
            await one()
          } catch (error) {
            // On a busy machine so many may have to wait too long: in vain, or with the outcome unknown.
            expect(error).toMatchObject({ code: 'store_error' })
            if (!isNotDone(error)) doubtful++
          }
        }
      }
      await Promise.all([1, 2, 3, 4].map(caller))
      await store.close()
      await pool.end()
    })
    // As autovacuum does, after which the server plans every statement again.
    const admin = database.pool({ max: 1 })
    while (performance.now() - from < HOT_MS) await admin.query('select pg_sleep(0.1); analyze quota_rows')
    await Promise.all(processes)
    const { rows } = await admin.query(
      `select split_part(key, ':', 1) as layer, sum(u1) as used from quota_rows
       where key ~ '^(user|team|org|site):' group by layer`,
    )
    const used = rows.map((row) => Number(row.used))
    expect(used).toEqual(Array(4).fill(used[0]))
    expect(Math.abs((used[0] ?? 0) - charged)).toBeLessThanOrEqual(doubtful)
    expect(charged).toBeGreaterThan(PROCESSES)
    const { rows: counts } = await admin.query(
      'select deadlocks from pg_stat_database where datname = current_database()',
    )
    console.log(
      `${charged} charged over ${PROCESSES} connections, deadlocks by the server's count: ${counts[0]?.deadlocks}`,
    )
    expect(Number(counts[0]?.deadlocks), database.server.log()).toBe(0)
  })
})
