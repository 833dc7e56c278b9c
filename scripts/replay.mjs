// Plays the random cases of a test again by their seed: `npm run replay -- SEED FILE`. Every failure names its seed.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'

const USAGE = `usage: npm run replay -- SEED FILE [--deep]
  SEED    a whole number, as a failed test names it
  FILE    the test, such as packages/quota-redis/test/differential.test.ts
  --deep  as many cases as npm run test:deep plays`

/** @returns {never} */
function refuse(problem) {
  console.error(`${problem}\n${USAGE}`)
  process.exit(2)
}

function argumentsOf() {
  try {
    // A seed may be negative, so it is no option.
    const [seed = '', ...rest] = process.argv.slice(2)
    const { values, positionals } = parseArgs({
      args: rest,
      options: { deep: { type: 'boolean', default: false } },
      allowPositionals: true,
    })
    return { seed, files: positionals, deep: values.deep }
  } catch (error) {
    return refuse(error.message)
  }
}

const { seed, files, deep } = argumentsOf()
if (!/^-?\d{1,10}$/.test(seed)) refuse(`SEED is ${JSON.stringify(seed)}: it has to be a whole number`)
if (files.length !== 1) refuse(`${files.length} files are given: give one`)
if (!files[0].endsWith('.test.ts') || !existsSync(files[0]))
  refuse(`${files[0]} is no test: is it a path from the root?`)
const args = ['run', '--config', 'vitest.workspace.ts', files[0]]
const env = { ...process.env, QUOTA_TEST_SEED: seed, ...(deep && { QUOTA_TEST_DEEP: '1' }) }
const { status } = spawnSync('vitest', args, { stdio: 'inherit', env })
process.exit(status ?? 1)
