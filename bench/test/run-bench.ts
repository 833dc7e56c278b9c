import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../..')
const flags = ['--conditions=@scoregw/source', '--import=tsx', `--import=${join(root, 'scripts/lua-as-text.mjs')}`]

/** Runs the benchmark on the sources, and returns its output. */
export async function runBench(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, join(root, 'bench/src/main.ts'), ...args])
  return stdout
}
