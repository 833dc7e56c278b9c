import { postgresTests } from '@scoregw/postgres-server'
import { describe, expect, it } from 'vitest'
import { runBench } from './run-bench.ts'

describe.runIf(postgresTests && process.env.QUOTA_TEST_DEEP === '1')('the sql suite', () => {
  it('the sql suite runs and prints its targets', { timeout: 300_000 }, async () => {
    const printed = await runBench('sql', '--quick')
    for (const shown of ['quota on PostgreSQL: six counters, 512 callers', 'SQLite, 64 callers, of an UPDATE']) {
      expect(printed).toContain(shown)
    }
  })
})
