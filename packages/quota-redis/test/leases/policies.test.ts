import { cellsIn, windowCell } from '@scoregw/quota/internal'
import { uniform } from '@scoregw/quota-histories'
import { manualClock } from '@scoregw/quota-testkit'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import type { RedisCounters } from '../../src/index.ts'
import { type LeasedRedisStore, leasedRedisStore } from '../../src/leases.ts'
import type { RedisStoreOptions } from '../../src/store/options.ts'
import { newPrefix } from '../store-harness.ts'
import { useCleanups, useRedis } from '../support/cleanups.ts'
import { redisTests } from '../support/redis-server.ts'

const CELLS = cellsIn(
  ['tokens'],
  [windowCell({ label: '3m', lengthMs: 180_000 }), windowCell({ label: '5m', lengthMs: 300_000 })],
)
const LAYERS = [
  { name: 'personal', shared: false },
  { name: 'site', shared: true },
]
const SCHEMA = uniform(['tokens'], CELLS, LAYERS)

const { later } = useCleanups()

describe.runIf(redisTests)('leases under several policies', () => {
  const redis = useRedis()

  function storeOn(options: Partial<RedisStoreOptions> = {}): LeasedRedisStore {
    const client = new Redis({ port: redis.port, lazyConnect: true })
    const store = leasedRedisStore({ client, prefix: newPrefix(), deadlineMs: 1_000, ...options })
    later(() => store.close())
    return store
  }

  function take(counters: RedisCounters, cost: number, limit: number) {
    const limits = [1e9, 1e9, limit, limit]
    return counters.take({ subject: 'u', set: 0, quotas: { layers: [0, 1], limits }, costs: [cost, 0] })
  }

  it('policies with the same layers and windows share leases in any order', async () => {
    const store = storeOn()
    const one = store.open(SCHEMA)
    const other = store.open(uniform(['tokens'], CELLS, [{ name: 'all', shared: true }, ...LAYERS]))
    for (let n = 0; n < 50; n++) await take(one, 1, 1e6)
    const { grants, localDecisions, idleTokens } = store.leases()
    expect(idleTokens).toBeGreaterThan(0)
    const before = { grants, localDecisions }
    const quotas = { layers: [1, 2], limits: [0, 0, 1e9, 1e9, 1e6, 1e6] }
    await other.take({ subject: 'u', set: 0, quotas, costs: [1, 0] })
    expect(store.leases().localDecisions).toBe(before.localDecisions + 1)
    const { states } = await other.read({ subject: 'u', set: 0, layers: [2] })
    expect(states.slice(8).filter((_, index) => index % 2 === 1)).toEqual([51, 51])
  })

  it('leases of several policies are returned when the store is closed', async () => {
    const prefix = newPrefix()
    const [store, witness] = [storeOn({ prefix }), storeOn({ prefix })]
    const hour = cellsIn(['tokens'], [windowCell({ label: '1h', lengthMs: 3_600_000 })])
    const longer = uniform(['tokens'], [...CELLS, ...hour], LAYERS)
    const [one, other] = [store.open(SCHEMA), store.open(longer)]
    const quotas = { layers: [0, 1], limits: [1e9, 1e9, 1e9, 1e6, 1e6, 1e6] }
    let taken = 0
    // A lease ends after two seconds in which nobody takes from it.
    const takeOfBoth = async (): Promise<void> => {
      for (let n = 0; n < 30; n++, taken++) {
        await take(one, 1, 1e6)
        await other.take({ subject: 'u', set: 0, quotas, costs: [1, 0] })
      }
      expect(store.leases().outstandingLeases).toBeGreaterThan(1)
    }
    await vi.waitFor(takeOfBoth, { timeout: 30_000 })
    await store.close()
    const { states } = await witness.open(longer).read({ subject: 'u', set: 0, layers: [1] })
    expect(states.slice(6).filter((_, index) => index % 2 === 1)).toEqual([2 * taken, 2 * taken, taken])
  })

  it('a store warns at start that several non-shared layers have their counters elsewhere', () => {
    const warn = vi.fn()
    const store = storeOn({ logger: { warn, error: vi.fn() } })
    store.open(SCHEMA)
    expect(warn).not.toHaveBeenCalled()
    store.open(uniform(['tokens'], CELLS, [...LAYERS, { name: 'team', shared: false }]))
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/all its counters are in one slot/))
  })

  it('a cached refusal includes what this process used since, so its retry time suffices', async () => {
    const clock = manualClock()
    const store = storeOn({ testClock: clock })
    const counters = store.open(SCHEMA)
    const began = clock.now()
    await take(counters, 4, 10)
    clock.advance(192_000)
    await take(counters, 4, 10)
    clock.advance(18_000)
    const first = await take(counters, 5, 10)
    expect(first.outcome).toBe('refused')
    expect(first.states.slice(4)).toEqual([began + 192_000, 4, began, 8])
    expect((await take(counters, 2, 10)).outcome).toBe('admitted')
    const { grants } = store.leases()
    const second = await take(counters, 5, 10)
    // Remembered, and yet true: the shorter window refuses as well by now.
    expect(store.leases().grants).toBe(grants)
    expect(second.outcome).toBe('refused')
    expect(second.states.slice(4)).toEqual([began + 192_000, 6, began, 10])
    clock.set(began + 372_000 - 1)
    expect((await take(counters, 5, 10)).outcome).toBe('refused')
    clock.advance(1)
    expect((await take(counters, 5, 10)).outcome).toBe('admitted')
  })

  it('a cached refusal is dropped when tokens are returned that were spent locally', async () => {
    const clock = manualClock()
    const counters = storeOn({ testClock: clock }).open(SCHEMA)
    const { states } = await take(counters, 8, 10)
    expect((await take(counters, 3, 10)).outcome).toBe('refused')
    const spent = { subject: 'u', set: 0, layers: [0, 1], states, refunds: [-2], as: 'committed' } as const
    await counters.settle(spent)
    const { states: seen, outcome } = await take(counters, 3, 10)
    expect(outcome).toBe('refused')
    expect([seen[5], seen[7]]).toEqual([10, 10])
  })
})
