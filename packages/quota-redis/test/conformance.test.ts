import { CONFORMANCE_CASES, describeStore } from '@scoregw/quota-testkit'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { nodeRedisFactory, redisFactory } from './store-harness.ts'
import { useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const FACTORIES = [
  ['ioredis', redisFactory],
  // Always on: the driver's own tests in `node-redis.test.ts`.
  ...(slowTests ? [['node-redis', nodeRedisFactory] as const] : []),
] as const

describe.runIf(redisTests).each(FACTORIES)('the conformance suite on %s', (_, factory) => {
  const redis = useRedis()

  const registered = describeStore(
    { describe, it },
    factory(() => redis.port),
    'Redis store',
  )

  it('the Redis store passes the conformance suite', () => expect(registered).toBe(CONFORMANCE_CASES.length))
})
