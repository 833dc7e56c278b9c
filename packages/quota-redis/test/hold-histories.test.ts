import { runHoldHistories } from '@scoregw/quota-histories'
import { describe, expect, it } from 'vitest'
import { directFactory } from './store-harness.ts'
import { useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
const DEPTH = deep ? 4 : 3
const TIMEOUT_MS = deep ? 7_200_000 : 300_000

describe.runIf(redisTests)('histories of two holds on Redis', () => {
  const redis = useRedis()

  it(`every history of two holds with ${DEPTH} moves gets the model’s answers`, { timeout: TIMEOUT_MS }, async () => {
    expect(
      await runHoldHistories(
        directFactory(() => redis.port),
        { depth: DEPTH },
      ),
    ).toBeGreaterThanOrEqual(deep ? 4_653 : 400)
  })
})
