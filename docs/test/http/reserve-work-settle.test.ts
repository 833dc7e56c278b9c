import { createQuota } from '@scoregw/quota'
import { redisStore } from '@scoregw/quota-redis'
import { startRedis } from '@scoregw/redis-server'
import { Redis } from 'ioredis'
import { expect, it } from 'vitest'

it.skipIf(process.env.REDIS_TESTS === 'off')('reserve, work, settle with counters in Redis', async () => {
  const redis = await startRedis()
  const client = new Redis(redis.port)
  const store = redisStore({ client })
  await store.ready()
  const quota = createQuota({
    limits: { perHour: { by: 'user', limit: 60, per: '1h' } },
    store,
  })
  const state = async () => {
    const { perHour } = (await quota.status('ann')).limits
    return [perHour?.used, perHour?.held ?? 0]
  }
  const work = (key: string, order: () => Promise<string>) =>
    quota.run({ subject: 'ann', cost: 3, id: key, ttlMs: 30_000 }, order)
  try {
    const during: unknown[] = []
    const ordered = async () => {
      during.push(await state())
      return 'ordered'
    }
    expect(await work('one', ordered)).toMatchObject({ allowed: true, value: 'ordered' })
    expect([during, await state()]).toEqual([[[3, 3]], [3, 0]])
    // A retry of the same key is neither charged nor worked again.
    expect(await work('one', ordered)).toMatchObject({ allowed: false, status: 'duplicate' })
    expect([during.length, await state()]).toEqual([1, [3, 0]])
    await expect(work('two', () => Promise.reject(new Error('of the work')))).rejects.toThrow('of the work')
    expect(await state()).toEqual([3, 0])
    // A process that dies leaves a hold.
    await quota.reserve({ subject: 'ann', cost: 3, id: 'three', ttlMs: 30_000 })
    expect(await state()).toEqual([6, 3])
  } finally {
    await quota.close()
    client.disconnect()
    await redis.stop()
  }
})
