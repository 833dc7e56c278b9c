import { memoryStore } from '@scoregw/quota'
import { runSetHistories, SEED } from '@scoregw/quota-histories'
import { randomRuns } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { directFactory } from './store-harness.ts'
import { useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
/** Beside the memory store, which the testkit plays beside its model. */
const HISTORIES = { runs: randomRuns(80, 5_000), maxSteps: 30 }
/** Room for a slow machine, in milliseconds. */
const TIMEOUT_MS = deep ? 7_200_000 : 300_000

describe.runIf(redisTests)('random histories over overlapping sets on Redis', () => {
  const redis = useRedis()

  it(`${HISTORIES.runs} random histories over overlapping sets get the memory store’s answers (seed ${SEED})`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    const factory = directFactory(() => redis.port)
    const outcomes = await runSetHistories(factory, (clock) => memoryStore({ clock }), HISTORIES)
    expect([...outcomes]).toEqual(expect.arrayContaining(['take admitted', 'take refused', 'hold admitted']))
  })
})
