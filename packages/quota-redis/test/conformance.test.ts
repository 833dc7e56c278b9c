import { CONFORMANCE_CASES, describeStore } from '@scoregw/quota-testkit'
import { describe, expect, it } from 'vitest'
import { nodeRedisFactory, redisFactory } from './store-harness.ts'
import { useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

describe.runIf(redisTests).each([
  ['ioredis', redisFactory],
  ['node-redis', nodeRedisFactory],
])('the conformance suite, %s', (_, factory) => {
  const redis = useRedis()

  const registered = describeStore(
    { describe, it },
    factory(() => redis.port),
    'Redis store',
  )

  it('runs every case', () => expect(registered).toBe(CONFORMANCE_CASES.length))
})
