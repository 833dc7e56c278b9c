import type { Io } from '../src/io.ts'
import { run } from '../src/program.ts'

/** What a command line came to. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command line within this process, with its output redirected as to a file. */
export async function runCli(args: readonly string[], io: Partial<Io> = {}): Promise<Ran> {
  let out = ''
  let err = ''
  const code = await run(args, {
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    isTerminal: false,
    showsProgress: false,
    hasColor: false,
    width: 100,
    env: {},
    signal: new AbortController().signal,
    ...io,
  })
  return { code, out, err }
}
