// Type-checks the root files and every workspace package that holds TypeScript, two at a time.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { folders, root, run } from './workspace.mjs'

const hasSources = (folder) =>
  ['src', 'test', '.vitepress'].some((name) => {
    const path = join(root, folder, name)
    return existsSync(path) && readdirSync(path, { recursive: true }).some((file) => file.endsWith('.ts'))
  })
const queue = ['.', ...folders.filter(hasSources)]
let failed = false

async function worker() {
  for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) {
    const { code, output } = await run('tsc', ['--project', join(root, folder), '--pretty', 'false'])
    console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${folder}`)
    if (code !== 0) {
      failed = true
      console.log(output)
    }
  }
}

await Promise.all([worker(), worker()])
process.exitCode = failed ? 1 : 0
