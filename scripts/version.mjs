// `changeset version` for packages that need one another's exact version. It takes an exact peer for one that breaks with each
// minor, and would make 1.0.0 of 0.1.0. So it reads a range that always fits, and the exact versions are written back after it.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { published, root, run } from './workspace.mjs'

const EXACT = '"workspace:*"'
const ANY = '"workspace:>=0.0.0"'

replaceInAll(EXACT, ANY)
try {
  const { code, output } = await run('changeset', ['version'])
  console.log(output)
  process.exitCode = code
} finally {
  replaceInAll(ANY, EXACT)
}

function replaceInAll(from, to) {
  for (const folder of published) {
    const path = join(root, folder, 'package.json')
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(from, to))
  }
}
