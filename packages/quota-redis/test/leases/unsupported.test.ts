import { createQuota, definePolicy } from '@scoregw/quota'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { leasedRedisStore } from '../../src/leases.ts'
import { newPrefix } from '../store-harness.ts'
import { useCleanups, useRedis } from '../support/cleanups.ts'
import { redisTests } from '../support/redis-server.ts'
import { leasedEngine, sitePolicy, siteUsed } from './engines.ts'

const POLICY = sitePolicy(100, 50)
const REMEDY = 'use redisStore(), which has it on a cluster too, in one slot'

/** The policy with two slots in a layer. */
const withSlots = (whose: { by: 'personal' } | { shared: 'site' }) =>
  definePolicy({
    limits: { total: { shared: 'site', limit: 100, per: '1h' }, running: { ...whose, concurrency: 2, for: 'take' } },
    operations: { take: {}, look: {} },
  })

const { later } = useCleanups()

describe.runIf(redisTests)('what leases don’t support', () => {
  const redis = useRedis()
  const clientOf = () => new Redis({ port: redis.port, lazyConnect: true })

  it.each([
    ['concurrency ("running")', 'a concurrency limit of each subject', withSlots({ by: 'personal' })],
    ['concurrency ("running")', 'a shared concurrency limit', withSlots({ shared: 'site' })],
    [
      `overrun: 'fit', as of "take"`,
      'an overrun that must fit',
      definePolicy({
        limits: { total: { shared: 'site', limit: 100, per: '1h' } },
        operations: { take: { overrun: 'fit', maxOverrun: 5 } },
      }),
    ],
  ] as const)('the error at construction, %s, says what to use instead, for %s', (what, _, policy) => {
    const store = leasedRedisStore({ client: clientOf() })
    later(() => store.close())
    expect(() => createQuota({ policy, store })).toThrow(
      expect.objectContaining({ code: 'store_unsupported', message: `this store cannot keep ${what}; ${REMEDY}` }),
    )
  })

  it('a hold is refused at the call, before it charges anything', async () => {
    const { quota, store } = leasedEngine(clientOf(), later, { policy: POLICY, prefix: newPrefix() })
    await store.ready()
    const hold = { subject: 'u', operation: 'take', ttlMs: 60_000 } as const
    const error = { code: 'holds_unsupported', message: `ttlMs: this store has no holds; ${REMEDY}` }
    await expect(quota.reserve(hold)).rejects.toMatchObject(error)
    await expect(quota.run(hold, () => Promise.resolve())).rejects.toMatchObject(error)
    const noHolds = { code: 'holds_unsupported', message: `this store has no holds; ${REMEDY}` }
    await expect(quota.holds.list('u')).rejects.toMatchObject(noHolds)
    expect(await siteUsed(quota)).toBe(0)
    // A reservation without an end is none.
    const reservation = await quota.reserve({ subject: 'u', operation: 'take' })
    expect(reservation.status).toBe('reserved')
    expect(await siteUsed(quota)).toBe(1)
  })
})
