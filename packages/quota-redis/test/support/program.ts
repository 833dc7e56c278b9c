import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '..', '..', '..', '..')

/** A program of its own, that imports this package's sources by name. */
export function runProgram(code: string, options: Pick<SpawnOptions, 'stdio' | 'serialization'> = {}): ChildProcess {
  const hook = pathToFileURL(join(root, 'scripts', 'lua-as-text.mjs')).href
  const args = [
    '--conditions=@scoregw/source',
    '--import=tsx',
    `--import=${hook}`,
    '--input-type=module',
    '--eval',
    code,
  ]
  return spawn(process.execPath, args, { ...options, cwd: join(root, 'packages', 'quota-redis') })
}

/** What a program prints, a line at a time. */
export async function* linesOf(child: ChildProcess): AsyncGenerator<string> {
  let rest = ''
  for await (const data of child.stdout!) {
    rest += String(data)
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
      yield rest.slice(0, end)
      rest = rest.slice(end + 1)
    }
  }
}
