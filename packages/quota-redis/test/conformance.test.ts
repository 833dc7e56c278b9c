import { CONFORMANCE_CASES, describeStore } from '@scoregw/quota-testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeRedisFactory, redisFactory } from './store-harness.ts'
import { type RedisServer, redisTests, startRedis } from './support/redis-server.ts'

describe.runIf(redisTests).each([
  ['ioredis', redisFactory],
  ['node-redis', nodeRedisFactory],
])('the conformance suite, %s', (_, factory) => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  const registered = describeStore(
    { describe, it },
    factory(() => redis.port),
    'Redis store',
  )

  it('runs every case', () => expect(registered).toBe(CONFORMANCE_CASES.length))
})
