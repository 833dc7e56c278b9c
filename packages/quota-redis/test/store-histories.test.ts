import { runStoreHistories } from '@scoregw/quota-testkit'
import { randomRuns, testSeed } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { directFactory } from './store-harness.ts'
import { useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
const RUNS = randomRuns(20, 5_000)
/** Room for a slow machine, in milliseconds. */
const TIMEOUT_MS = deep ? 7_200_000 : 300_000

describe.runIf(redisTests)('random histories of two policies on Redis', () => {
  const redis = useRedis()

  it(`${RUNS} random histories get the model’s answers (seed ${testSeed})`, { timeout: TIMEOUT_MS }, async () => {
    const outcomes = await runStoreHistories(
      directFactory(() => redis.port),
      { runs: RUNS, seed: testSeed },
    )
    expect([...outcomes]).toEqual(expect.arrayContaining(['take admitted', 'take refused', 'hold admitted']))
  })
})
