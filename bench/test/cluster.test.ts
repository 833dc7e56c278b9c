import { describe, expect, it } from 'vitest'
import { runBench } from './run-bench.ts'

describe.runIf(process.env.REDIS_TESTS !== 'off' && process.env.QUOTA_TEST_DEEP === '1')('the cluster suite', () => {
  it('the cluster suite runs and prints its targets', { timeout: 60_000 }, async () => {
    const printed = await runBench('cluster', '--quick')
    for (const shown of ['quota, leased: six counters, 512 callers', 'grants a decision']) {
      expect(printed).toContain(shown)
    }
  })
})
