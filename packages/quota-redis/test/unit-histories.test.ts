import { runHistories, UNIT_SCENES } from '@scoregw/quota-histories'
import { describe, it } from 'vitest'
import { directFactory } from './store-harness.ts'
import { useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
const HISTORIES = { runs: deep ? 20_000 : 25, maxSteps: 30 }
const TIMEOUT_MS = deep ? 7_200_000 : 300_000

describe.runIf(redisTests)('random histories over several units on Redis', () => {
  const redis = useRedis()

  it(`${HISTORIES.runs} random histories over several units get the model’s answers`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    const factory = directFactory(() => redis.port)
    await runHistories(factory, { ...HISTORIES, scenes: UNIT_SCENES })
  })
})
