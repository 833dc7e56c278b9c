import { cellsIn, windowCell } from '@scoregw/quota/store'
import { CONFORMANCE_CASES, manualClock, runCase } from '@scoregw/quota-testkit'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { leasedRedisStore } from '../../src/leases.ts'
import { leasedFactory, newPrefix } from '../store-harness.ts'
import { useCleanups, useRedis } from '../support/cleanups.ts'
import { idOf } from '../support/holders.ts'
import { redisTests } from '../support/redis-server.ts'
import { unitsEngine } from '../support/units.ts'

const { later } = useCleanups()

describe.runIf(redisTests)('leases of several units', () => {
  const redis = useRedis()

  function engine(prefix: string) {
    const made = unitsEngine(leasedRedisStore, redis.port, prefix)
    later(() => made.quota.close())
    return made
  }

  it('a lease of several units is spent locally, ends when one unit does, and is returned by unit', async () => {
    const prefix = newPrefix()
    const [one, other] = [engine(prefix), engine(prefix)]
    await Promise.all([one, other].map(({ store }) => store.ready()))
    for (let round = 0; round < 20; round++) {
      const subjects = Array.from({ length: 10 }, (_, n) => `u${n}`)
      const decisions = await Promise.all(subjects.map((subject) => one.quota.consume({ subject, operation: 'ask' })))
      expect(decisions.every(({ allowed }) => allowed)).toBe(true)
    }
    expect(one.store.leases().localDecisions).toBeGreaterThan(0)
    expect(await one.used('all')).toEqual([200, 2_000, 40_000])
    const tooMany = await one.quota.consume({ subject: 'u', operation: 'ask', cost: { tokens: 1_001 } })
    expect(tooMany).toMatchObject({ allowed: false, binding: { layer: 'all', window: 'tokens', unit: 'tokens' } })
    // The rest of the tokens, which leaves requests alone.
    const last = await one.quota.reserve({ subject: 'u', operation: 'ask', cost: { tokens: 1_000 } })
    if (last.status !== 'reserved') throw new Error(last.status)
    expect(await one.quota.consume({ subject: 'u', operation: 'ask' })).toMatchObject({ allowed: false })
    expect(await one.quota.consume({ subject: 'u', operation: 'list' })).toMatchObject({ allowed: true })
    await last.commit({ tokens: 4, money: 100 })
    const left = [202, 2_004, 40_100]
    await vi.waitFor(async () => expect(await one.used('all')).toEqual(left), { timeout: 15_000 })
    await one.quota.close()
    expect(await other.used('all')).toEqual(left)
  })

  it('a leased hold stays open if a commit meets ended periods, and nothing is given back twice', async () => {
    const clock = manualClock()
    const client = new Redis({ port: redis.port, lazyConnect: true })
    const store = leasedRedisStore({ client, prefix: newPrefix(), deadlineMs: 1_000, testClock: clock })
    later(() => store.close())
    const units = ['requests', 'tokens']
    const month = windowCell({ label: 'month', every: 'month', timeZone: 'UTC' })
    const cells = cellsIn(units, [windowCell({ label: '1h', lengthMs: 3_600_000 }, 'requests'), month])
    const layers = [
      { name: 'user', shared: false },
      { name: 'all', shared: true },
    ]
    const counters = store.open({ units, cells, categories: ['ask'], layers })
    const [quotas, now] = [{ layers: [0, 1], limits: [99, 99, 99, 99] }, clock.now()]
    const periods = [now, now + 1_000, now + 2_000, now, now + 1_000, now + 2_000]
    const hold = { subject: 'u', category: 0, quotas, id: idOf('a') }
    /** Of the layer that all share: requests, then tokens. */
    const used = async () => {
      const { states } = await counters.read({ subject: 'u', categories: [0], layers: [1], periods })
      return states[0]!.filter((_, index) => index % 2 === 1)
    }
    await counters.take({ ...hold, periods, costs: [5, 10, 0], hold: { ttlMs: 60_000, maxHolds: 9 } })
    expect(await used()).toEqual([5, 10])
    // More tokens, of which a period has to be known, and fewer requests.
    const commit = { as: 'committed', actual: [2, 15], overrun: 'charge', maxOverrun: [9, 9] } as const
    const over = await counters.holds!.settle({ ...hold, ...commit, periods: [0, 1, 2, 0, 1, 2] })
    expect(over.outcome).toBe('stale')
    expect(await used()).toEqual([5, 10])
    expect(await counters.holds!.settle({ ...hold, ...commit, periods })).toMatchObject({ outcome: 'settled' })
    expect(await used()).toEqual([2, 15])
  })

  const cases = CONFORMANCE_CASES.filter(({ name }) => name.includes('units'))
  it.each(cases)('$name', (each) =>
    runCase(
      each,
      leasedFactory(() => redis.port),
    ),
  )
})
