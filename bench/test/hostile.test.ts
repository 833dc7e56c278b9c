import { expect, it } from 'vitest'
import { runBench } from './run-bench.ts'

it.runIf(process.env.QUOTA_TEST_DEEP === '1')(
  'the hostile suite runs and prints its targets',
  { timeout: 120_000 },
  async () => {
    const printed = await runBench('hostile', '--quick')
    for (const shown of ['event loop held by one request of a user', 'peak of memory', "others' /me/quota p99"]) {
      expect(printed).toContain(shown)
    }
  },
)
