import { describe, expect, it } from 'vitest'
import { runBench } from './run-bench.ts'

describe.runIf(process.env.REDIS_TESTS !== 'off' && process.env.QUOTA_TEST_DEEP === '1')('the waiting suite', () => {
  it('the waiting suite runs and shows each queue', { timeout: 120_000 }, async () => {
    const printed = await runBench('waiting', '--quick')
    for (const shown of ['p-queue', 'bottleneck', 'rate-limiter-flexible', 'no queue']) expect(printed).toContain(shown)
  })
})
