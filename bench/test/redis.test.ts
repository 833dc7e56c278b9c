import { describe, expect, it } from 'vitest'
import { runBench } from './run-bench.ts'

describe.runIf(process.env.REDIS_TESTS !== 'off' && process.env.QUOTA_TEST_DEEP === '1')('the redis suite', () => {
  it('the redis suite runs and prints its targets', { timeout: 300_000 }, async () => {
    const printed = await runBench('redis', '--quick')
    for (const shown of ['quota: six counters, 512 callers', 'bytes per user and category', 'redisUs']) {
      expect(printed).toContain(shown)
    }
  })
})
