import { checkPromises } from '@scoregw/quota-histories'
import { CONFORMANCE_CASES, runCase } from '@scoregw/quota-testkit'
import { describe, it } from 'vitest'
import { leasedFactory } from '../store-harness.ts'
import { useRedis } from '../support/cleanups.ts'
import { redisTests } from '../support/redis-server.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
const PROMISES = { runs: deep ? 5_000 : 15, maxSteps: 30 }

/** Kinds, holds and leases have tests of their own in every run; all cases once more are for the deep profile. */
describe.runIf(redisTests && deep)('stores with leases', () => {
  const redis = useRedis()
  const factory = leasedFactory(() => redis.port)

  // A store with leases never admits more than the model, but it may admit less: what is leased counts as used.
  const cases = CONFORMANCE_CASES.filter(({ name }) => !name.startsWith('history: '))
  it.each(cases)('$name', async (testCase) => {
    await runCase(testCase, factory)
  })

  it(`a store with leases breaks no promise in ${PROMISES.runs} random histories`, { timeout: 3_600_000 }, async () => {
    await checkPromises(factory, PROMISES)
  })
})

describe.runIf(redisTests && !deep)('engines and stale settings on stores with leases', () => {
  const redis = useRedis()
  const factory = leasedFactory(() => redis.port)

  it.each(CONFORMANCE_CASES.filter(({ name }) => /^engine: |stale/.test(name)))('$name', async (testCase) => {
    await runCase(testCase, factory)
  })
})
