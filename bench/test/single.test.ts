import { expect, test } from 'vitest'
import { runBench } from './run-bench.ts'

test.runIf(process.env.QUOTA_TEST_DEEP === '1')(
  'the single suite runs',
  async () => {
    const printed = await runBench('single', '--quick')
    for (const what of ['memory, await consume', 'Redis, 64 callers, refused', 'Hono, by address, refused']) {
      expect(printed).toContain(what)
    }
  },
  300_000,
)
