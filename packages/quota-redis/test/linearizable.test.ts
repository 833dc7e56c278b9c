import { add, cellsIn, close, refund, roll, usedIn, view, windowCell } from '@scoregw/quota/internal'
import { uniform } from '@scoregw/quota-histories'
import { manualClock } from '@scoregw/quota-testkit'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RedisCounters } from '../src/index.ts'
import { newPrefix, openStore } from './store-harness.ts'
import { useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const RUNS = process.env.QUOTA_TEST_DEEP === '1' ? 5_000 : 60
const LENGTHS = [3_600_000, 18_000_000]
const LIMITS = [5, 7]
const SCHEMA = uniform(
  ['tokens'],
  cellsIn(
    ['tokens'],
    LENGTHS.map((lengthMs, index) => windowCell({ label: `w${index}`, lengthMs })),
  ),
  [
    { name: 'site', shared: true },
    { name: 'personal', shared: false },
  ],
)

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

const operation: fc.Arbitrary<Operation> = fc.record({
  kind: fc.constantFrom('take', 'take', 'take', 'give-back', 'reset', 'read'),
  cost: fc.integer({ min: 1, max: 3 }),
})

function seen(cells: number[], now: number): number[] {
  const states: number[] = []
  for (const [w, lengthMs] of LENGTHS.entries()) view(cells, 2 * w, now - lengthMs, now, states, 2 * w)
  return states
}

/** What a single machine answers, doing one call after the other; changes the cells. */
function alone({ operation: { kind, cost }, startedAts }: Call, cells: number[], now: number): string {
  if (kind === 'take') {
    const admitted = LENGTHS.every((lengthMs, w) => usedIn(cells, 2 * w, now - lengthMs) + cost <= LIMITS[w]!)
    for (const [w, lengthMs] of admitted ? LENGTHS.entries() : []) {
      roll(cells, 2 * w, now - lengthMs, now, now)
      add(cells, 2 * w, cost)
    }
    return JSON.stringify([admitted ? 'admitted' : 'refused', seen(cells, now)])
  }
  for (const w of LENGTHS.keys()) {
    if (kind === 'give-back') refund(cells, 2 * w, startedAts[w] ?? -2, cost)
    if (kind === 'reset') close(cells, 2 * w)
  }
  return kind === 'read' ? JSON.stringify(seen(cells, now)) : ''
}

/** Whether the calls could have been made one after the other, each at some instant between its begin and its end. */
function isLinearizable(calls: readonly Call[], now: number): boolean {
  const dead = new Set<string>()
  const search = (done: bigint, cells: readonly number[]): boolean => {
    const left = calls.flatMap((_, index) => ((done >> BigInt(index)) & 1n ? [] : [index]))
    if (left.length === 0) return true
    const state = `${done} ${cells}`
    if (dead.has(state)) return false
    const firstEnd = Math.min(...left.map((index) => calls[index]?.until ?? 0))
    for (const index of left) {
      const call = calls[index] as Call
      if (call.from > firstEnd) continue
      const next = [...cells]
      if (alone(call, next, now) === call.answer && search(done | (1n << BigInt(index)), next)) return true
    }
    dead.add(state)
    return false
  }
  return search(0n, [-1, -1, -1, -1])
}

describe.runIf(redisTests)('histories of concurrent clients', () => {
  const redis = useRedis()

  async function record(
    clients: readonly (readonly Operation[])[],
    counters: readonly RedisCounters[],
  ): Promise<Call[]> {
    let tick = 0
    const calls: Call[] = []
    await Promise.all(
      clients.map(async (operations, client) => {
        const store = counters[client]!
        let states: readonly number[] = []
        for (const each of operations) {
          const from = tick++
          const startedAts = states.filter((_, index) => index % 2 === 0)
          let answer = ''
          if (each.kind === 'take') {
            const quotas = { layers: [0], limits: [...LIMITS, ...LIMITS] }
            const request = { subject: 'u', set: 0, quotas, costs: [each.cost, 0] }
            const reply = await store.take(request)
            if (reply.outcome === 'admitted') states = reply.states
            answer = JSON.stringify([reply.outcome, reply.states.slice(0, 4)])
          } else if (each.kind === 'give-back') {
            const settled = { subject: 'u', set: 0, layers: [0], states, refunds: [each.cost] }
            await store.settle({ ...settled, as: 'cancelled' })
          } else if (each.kind === 'reset') {
            await store.reset({ subject: 'u', limits: [0, 1] })
          } else {
            answer = JSON.stringify((await store.read({ subject: 'u', set: 0, layers: [0] })).states.slice(0, 4))
          }
          calls.push({ operation: each, from, until: tick++, answer, startedAts })
        }
      }),
    )
    return calls
  }

  it('histories of concurrent clients are linearizable', { timeout: 60_000 + 40 * RUNS }, async () => {
    const clients = fc.array(fc.array(operation, { minLength: 2, maxLength: 5 }), { minLength: 4, maxLength: 8 })
    let overlapping = 0
    await fc.assert(
      fc.asyncProperty(clients, async (each) => {
        const clock = manualClock()
        const prefix = newPrefix()
        const stores = each.map(() => openStore(redis.port, prefix, clock))
        try {
          const counters = stores.map((store) => store.open(SCHEMA))
          await Promise.all(stores.map((store) => store.ready()))
          const calls = await record(each, counters)
          overlapping += calls.filter((a) => calls.some((b) => a !== b && a.from < b.until && b.from < a.until)).length
          expect(isLinearizable(calls, clock.now()), JSON.stringify(calls)).toBe(true)
        } finally {
          await Promise.all(stores.map((store) => store.close()))
        }
      }),
      { numRuns: RUNS },
    )
    expect(overlapping).toBeGreaterThan(RUNS)
  })

  it('the checker reports a history that isn’t linearizable', () => {
    const take = { kind: 'take', cost: 5 } as const
    const answer = JSON.stringify(['admitted', [1_000, 5, 1_000, 5]])
    const call = { operation: take, answer, startedAts: [] }
    expect(isLinearizable([{ ...call, from: 0, until: 1 }], 1_000)).toBe(true)
    const twice = [
      { ...call, from: 0, until: 2 },
      { ...call, from: 1, until: 3 },
    ]
    expect(isLinearizable(twice, 1_000)).toBe(false)
  })
})
