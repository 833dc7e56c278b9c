import { checkPromises, runHistories } from '@scoregw/quota-histories'
import { randomRuns, testSeed } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { redisFactory } from './store-harness.ts'
import { useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
/** Each has servers' answers to wait for: 1,000 in every run are played on the embedded store. */
const HISTORIES = { runs: randomRuns(10, 100_000), maxSteps: 30 }
const PROMISES = { runs: randomRuns(8, 20_000), maxSteps: 30 }
/** Room for a slow machine, in milliseconds. */
const TIMEOUT_MS = deep ? 7_200_000 : 300_000

describe.runIf(redisTests)('random histories on Redis', () => {
  const redis = useRedis()
  const factory = redisFactory(() => redis.port)

  it(`${HISTORIES.runs} random histories get the model’s answers (seed ${testSeed})`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    await runHistories(factory, HISTORIES)
  })

  it(`${PROMISES.runs} random histories break no promise (seed ${testSeed})`, { timeout: TIMEOUT_MS }, async () => {
    const { admitted, refused, retried } = await checkPromises(factory, PROMISES)
    expect(Math.min(admitted, refused, retried)).toBeGreaterThan(PROMISES.runs / 10)
  })
})
