import { CONFORMANCE_CASES, describeStore } from '@scoregw/quota-testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sentinelFactory } from './store-harness.ts'
import { type ReplicaPair, redisTests, startReplicaPair } from './support/redis-server.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'

describe.runIf(redisTests && deep)('a primary under Sentinel', () => {
  let pair: ReplicaPair
  beforeAll(async () => {
    pair = await startReplicaPair()
  })
  afterAll(() => pair.stop())

  const registered = describeStore(
    { describe, it },
    sentinelFactory(() => pair),
    'Redis store',
  )

  it('a store on a primary under Sentinel passes the conformance suite', () =>
    expect(registered).toBe(CONFORMANCE_CASES.length))
})
