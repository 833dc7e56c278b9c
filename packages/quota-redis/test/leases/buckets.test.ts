import { createQuota, definePolicy } from '@scoregw/quota'
import { CONFORMANCE_CASES, manualClock, runCase } from '@scoregw/quota-testkit'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { leasedRedisStore } from '../../src/leases.ts'
import { leasedFactory, newPrefix } from '../store-harness.ts'
import { useCleanups, useRedis } from '../support/cleanups.ts'
import { redisTests } from '../support/redis-server.ts'

const { later } = useCleanups()

const MANY = 1_000_000

/** 1,000 requests a minute for all subjects, one each 60 ms. */
const policy = definePolicy({
  limits: {
    own: { by: 'user', limit: MANY, per: '1m', burst: { share: 1 } },
    total: { shared: 'all', limit: 1_000, per: '1m', burst: { share: 1 } },
  },
})

describe.runIf(redisTests)('token buckets under leases', () => {
  const redis = useRedis()
  const factory = leasedFactory(() => redis.port)

  it('a shared bucket under leases is decided by the site, to the token and the millisecond', async () => {
    const [prefix, testClock] = [newPrefix(), manualClock()]
    const engines = [1, 2].map(() => {
      const client = new Redis({ port: redis.port, lazyConnect: true })
      const store = leasedRedisStore({ client, prefix, deadlineMs: 1_000, testClock })
      const quota = createQuota({ policy, store })
      later(() => quota.close())
      return { store, quota }
    })
    await Promise.all(engines.map(({ store }) => store.ready()))
    const send = (n: number) => engines[n % 2]!.quota.consume({ subject: `u${n}` })
    const allowed = async (from: number, count: number) => {
      const decisions = await Promise.all(Array.from({ length: count }, (_, n) => send(from + n)))
      return decisions.filter((decision) => decision.allowed).length
    }
    // Enough demand, and far from the limit: of a window something would be leased.
    for (let round = 0; round < 4; round++) expect(await allowed(100 * round, 100)).toBe(100)
    expect(engines.map(({ store }) => store.leases().idleTokens)).toEqual([0, 0])
    expect(await allowed(400, 700)).toBe(600)
    expect(await send(1)).toMatchObject({ allowed: false, refusedBy: { name: 'total' }, retryAfterMs: 60 })
    testClock.advance(59)
    expect(await allowed(0, 2)).toBe(0)
    // A refusal of a moment ago says nothing of now.
    testClock.advance(1)
    expect(await allowed(0, 2)).toBe(1)
    testClock.advance(120)
    expect(await allowed(0, 6)).toBe(2)
    expect(engines.map(({ store }) => store.leases().localDecisions)).toEqual([0, 0])
    // Full again, and younger than its cell is kept: what the answer shows opened with this request.
    testClock.advance(90_000)
    const { limits } = await send(0)
    expect(limits.total).toMatchObject({ used: 1, startedAt: testClock.now() })
  })

  it.each(CONFORMANCE_CASES.filter(({ name }) => /^(?!history: ).*bucket/.test(name)))('$name', (each) =>
    runCase(each, factory),
  )
})
