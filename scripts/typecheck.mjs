// Type-checks the root files and every workspace package that holds TypeScript, two at a time.
// By TypeScript 7, which takes a tenth of the time; declarations and tools that need the compiler's API keep 6.
import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
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
const tsc = join(createRequire(import.meta.url).resolve('typescript-7/package.json'), '..', 'bin', 'tsc')
const queue = ['.', ...folders.filter(hasSources), ...webPages]
let failed = false

async function worker() {
  for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) {
    const { code, output } = await run(process.execPath, [tsc, '--project', join(root, folder), '--pretty', 'false'])
    console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${folder}`)
    if (code !== 0) {
      failed = true
      console.log(output)
    }
  }
}

await Promise.all([worker(), worker()])
process.exitCode = failed ? 1 : 0
