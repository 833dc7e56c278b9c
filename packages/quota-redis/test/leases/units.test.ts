import { CONFORMANCE_CASES, runCase } from '@scoregw/quota-testkit'
import { describe, expect, it, vi } from 'vitest'
import { leasedRedisStore } from '../../src/leases.ts'
import { leasedFactory, newPrefix } from '../store-harness.ts'
import { useCleanups, useRedis } from '../support/cleanups.ts'
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
    expect(tooMany).toMatchObject({ allowed: false, refusedBy: { name: 'all-tokens', shared: 'all', unit: 'tokens' } })
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

  const cases = CONFORMANCE_CASES.filter(({ name }) => name.includes('units'))
  it.each(cases)('$name', (each) =>
    runCase(
      each,
      leasedFactory(() => redis.port),
    ),
  )
})
