import { expect, it } from 'vitest'
import { runBench } from './run-bench.ts'

it.runIf(process.env.QUOTA_TEST_DEEP === '1')(
  'the sync suite runs and prints its targets',
  { timeout: 60_000 },
  async () => {
    const printed = await runBench('sync', '--quick')
    for (const shown of ['embedded database: a snapshot, seconds', 'event loop blocked', 'heap after 2 snapshots']) {
      expect(printed).toContain(shown)
    }
  },
)
