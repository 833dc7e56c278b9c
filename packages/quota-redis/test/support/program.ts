import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { PROGRAM_OPTIONS } from '@scoregw/server-kit'
import { buildSync } from 'esbuild'

const PACKAGE = join(import.meta.dirname, '..', '..')
const PROGRAMS = join(PACKAGE, 'node_modules/.cache/programs')

/** A program of its own, that imports this package's sources by name. */
export function runProgram(code: string, options: Pick<SpawnOptions, 'stdio' | 'serialization'> = {}): ChildProcess {
  const name = createHash('sha256').update(code).digest('hex').slice(0, 16)
  const outfile = join(PROGRAMS, `${name}.${process.pid}.mjs`)
  buildSync({
    stdin: { contents: code, resolveDir: PACKAGE },
    outfile,
    ...PROGRAM_OPTIONS,
  })
  return spawn(process.execPath, [outfile], { ...options, cwd: PACKAGE })
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
