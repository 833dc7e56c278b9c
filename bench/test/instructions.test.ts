import { join } from 'node:path'
import { isExecutable, pathFolders } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { runBench } from './run-bench.ts'

const hasValgrind = pathFolders().some((folder) => isExecutable(join(folder, 'callgrind_control')))
const isDeep = process.env.REDIS_TESTS !== 'off' && process.env.QUOTA_TEST_DEEP === '1'

describe.runIf(isDeep && hasValgrind)('the instructions suite', () => {
  it('the instructions suite runs and prints its counts', { timeout: 300_000 }, async () => {
    const printed = await runBench('instructions', '--quick')
    expect(printed).toContain('quota: two layers, one price')
    expect(printed).toContain('PostgreSQL, quota: six limits')
  })
})
