import { expect, test } from 'vitest'
import { runBench } from './run-bench.ts'

test.runIf(process.env.QUOTA_TEST_DEEP === '1')(
  'the http suite runs',
  async () => {
    const printed = await runBench('http', '--quick')
    expect(printed).toContain('Express: quota, draft-10 fields')
  },
  120_000,
)
