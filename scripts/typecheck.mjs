// Type-checks the root files and every workspace package that holds TypeScript, two at a time.
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { folders, root, run } from './workspace.mjs'

const hasSources = (folder) =>
  ['src', 'test', '.vitepress'].some((name) => {
    const path = join(root, folder, name)
    return existsSync(path) && readdirSync(path, { recursive: true }).some((file) => file.endsWith('.ts'))
  })
/** Scripts of web pages run elsewhere, and have a tsconfig of their own beside them. */
const webPages = folders.filter(hasSources).flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: false }).includes('src')
    ? readdirSync(join(root, folder, 'src'), { recursive: true })
        .filter((file) => basename(file) === 'tsconfig.json')
        .map((file) => join(folder, 'src', dirname(file)))
    : [],
)
const queue = ['.', ...folders.filter(hasSources), ...webPages]
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
