import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const flags = ['--conditions=@scoregw/source', '--import=tsx', `--import=${join(root, 'scripts/lua-as-text.mjs')}`]

describe.runIf(process.env.REDIS_TESTS !== 'off')('the redis suite', () => {
  it('runs, and prints its targets', { timeout: 60_000 }, async () => {
    const main = join(root, 'bench/src/main.ts')
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, main, 'redis', '--quick'])
    for (const shown of ['quota: six counters, 512 callers', 'bytes per user and category', 'Redis, us']) {
      expect(stdout).toContain(shown)
    }
  })
})
