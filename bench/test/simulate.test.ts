import { expect, it } from 'vitest'
import { runBench } from './run-bench.ts'

it.runIf(process.env.QUOTA_TEST_DEEP === '1')('the simulate suite runs', { timeout: 60_000 }, async () => {
  const printed = await runBench('simulate', '--quick')
  for (const shown of ['JSON.parse of each line', 'simulate, NDJSON', 'simulate, common log']) {
    expect(printed).toContain(shown)
  }
})
