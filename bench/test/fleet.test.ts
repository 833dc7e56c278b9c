import { postgresTests } from '@scoregw/postgres-server'
import { slowTests } from '@scoregw/server-kit'
import { expect, it } from 'vitest'
import { runBench } from './run-bench.ts'

it.runIf(postgresTests && slowTests)(
  'the fleet suite runs every contestant on each server and prints what it cost',
  { timeout: 300_000 },
  async () => {
    const printed = await runBench('fleet', '--quick')
    for (const shown of [
      'quota: one limit',
      'quota: six limits',
      '@upstash/ratelimit',
      'an upsert of one counter',
      'serverUs',
      'nodeRatio',
    ]) {
      expect(printed).toContain(shown)
    }
  },
)
