// Plays the random histories of a test again by their seed: `npm run replay -- SEED FILE`. The deep profile is played, which
// begins with the histories of the ordinary one; the first that differs ends it.
import { spawnSync } from 'node:child_process'

const [seed = '', file = '', ...others] = process.argv.slice(2)
if (!/^-?\d+$/.test(seed) || file === '') {
  console.error(
    'usage: npm run replay -- SEED FILE, such as: npm run replay -- 42 packages/quota-redis/test/differential.test.ts',
  )
  process.exit(1)
}
const args = ['run', '--config', 'vitest.workspace.ts', '--project', 'tests', file, ...others]
const env = { ...process.env, QUOTA_TEST_DEEP: '1', QUOTA_TEST_SEED: seed }
const { status } = spawnSync('vitest', args, { stdio: 'inherit', env })
process.exit(status ?? 1)
