import { createQuota, definePolicy } from '@scoregw/quota'
import { CONFORMANCE_CASES, runCase } from '@scoregw/quota-testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { leasedRedisStore } from '../../src/leases.ts'
import { leasedFactory, newPrefix } from '../store-harness.ts'
import { useCleanups } from '../support/cleanups.ts'
import { type RedisServer, redisTests, startRedis } from '../support/redis-server.ts'

const { later } = useCleanups()

/** Three units of everybody: tokens for 300 requests of 10, money for the rest and many more. */
const policy = definePolicy({
  units: ['requests', 'tokens', 'money'],
  windows: [
    { label: '1h', unit: 'requests' },
    { label: 'tokens', per: '1h', unit: 'tokens' },
    { label: 'budget', per: '1d', unit: 'money' },
  ],
  categories: ['ask'],
  layers: [{ name: 'user' }, { name: 'all', shared: true }],
  operations: {
    ask: { category: 'ask', cost: { requests: 1, tokens: 10, money: 200 } },
    list: { category: 'ask', cost: { requests: 1 } },
  },
  base: {
    user: { ask: { '1h': 'unlimited', tokens: 'unlimited', budget: 'unlimited' } },
    all: { ask: { '1h': 100_000, tokens: 3_000, budget: 10_000_000 } },
  },
})

describe.runIf(redisTests)('leases of several units', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  const factory = leasedFactory(() => redis.port)

  function engine(prefix: string) {
    const client = new Redis({ port: redis.port, lazyConnect: true })
    const store = leasedRedisStore({ client, prefix, deadlineMs: 1_000 })
    const quota = createQuota({ policy, store })
    later(() => quota.close())
    /** Requests, tokens and money that everybody used. */
    const used = async () => {
      const { windows } = await quota.status('nobody')
      return windows.ask?.filter(({ layer }) => layer === 'all').map((window) => window.used)
    }
    return { quota, store, used }
  }

  it('are spent without the server in all units, end where one of them does, and go back by unit', async () => {
    const prefix = newPrefix()
    const [one, other] = [engine(prefix), engine(prefix)]
    for (let round = 0; round < 20; round++) {
      const subjects = Array.from({ length: 10 }, (_, n) => `u${n}`)
      const decisions = await Promise.all(subjects.map((subject) => one.quota.consume({ subject, operation: 'ask' })))
      expect(decisions.every(({ allowed }) => allowed)).toBe(true)
    }
    expect(one.store.leases().localDecisions).toBeGreaterThan(0)
    expect(await one.used()).toEqual([200, 2_000, 40_000])
    const tooMany = await one.quota.consume({ subject: 'u', operation: 'ask', cost: { tokens: 1_001 } })
    expect(tooMany).toMatchObject({ allowed: false, binding: { layer: 'all', window: 'tokens', unit: 'tokens' } })
    // The rest of the tokens, which leaves requests alone.
    const last = await one.quota.reserve({ subject: 'u', operation: 'ask', cost: { tokens: 1_000 } })
    if (last.status !== 'reserved') throw new Error(last.status)
    expect(await one.quota.consume({ subject: 'u', operation: 'ask' })).toMatchObject({ allowed: false })
    expect(await one.quota.consume({ subject: 'u', operation: 'list' })).toMatchObject({ allowed: true })
    await last.commit({ tokens: 4, money: 100 })
    await vi.waitFor(async () => expect(await one.used()).toEqual([202, 2_004, 40_100]), { timeout: 15_000 })
    await one.quota.close()
    expect(await other.used()).toEqual([202, 2_004, 40_100])
  })

  it.each(CONFORMANCE_CASES.filter(({ name }) => name.includes('units')))('$name', (each) => runCase(each, factory))
})
