import { expect, test } from 'vitest'
import { runBench } from './run-bench.ts'

test.runIf(process.env.QUOTA_TEST_DEEP === '1')(
  'the gateway suite runs and prints its targets',
  { timeout: 60_000 },
  async () => {
    const printed = await runBench('gateway', '--quick')
    for (const shown of ['read scores, quota off', 'upsert 20, quota on', 'p99Ms', 'upsert of one of many players']) {
      expect(printed).toContain(shown)
    }
  },
)
