import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { bundled, type Program } from './bundle.ts'
import { DEADLINE_MS } from './gateway.ts'
import { whenDone } from './shared.ts'

const EXAMPLE = join(import.meta.dirname, '../..')
const LUA_AS_TEXT = join(EXAMPLE, '../../scripts/lua-as-text.mjs')

/** On any free ports, and patient. */
const ANYWHERE = { PORT: '0', SYNC_PORT: '0', CHARTS_PORT: '0', REDIS_DEADLINE_MS: String(DEADLINE_MS) } as const

/** A process of its own, and what it has printed. */
export interface Child {
  readonly process: ChildProcess
  stdout(): string
  stderr(): string
  /** Resolves when the standard output has this in it, with what it matched. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves when the process has ended. */
  ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/** Runs one of the example's programs with nothing of this process's environment but the path. */
export function run(program: Program, args: readonly string[], env: Record<string, string>): Child {
  return start([bundled(program), ...args], env)
}

/** The same from the sources, as `npm start` does. */
export function runSources(program: 'main' | 'cli', args: readonly string[], env: Record<string, string>): Child {
  const flags = ['--conditions=@scoregw/source', '--import', 'tsx', `--import=${LUA_AS_TEXT}`]
  return start([...flags, join(EXAMPLE, 'src', `${program}.ts`), ...args], env)
}

/** As {@link run}, with so many descriptors at most. */
export function runWithin(descriptors: number) {
  return (program: Program, args: readonly string[], env: Record<string, string>): Child => {
    const script = `ulimit -n ${descriptors} && exec "$0" "$@"`
    return start(['-c', script, process.execPath, bundled(program), ...args], env, '/bin/sh')
  }
}

function start(args: readonly string[], env: Record<string, string>, command = process.execPath): Child {
  const child = spawn(command, args, { cwd: EXAMPLE, env: { PATH: process.env.PATH, ...env } })
  whenDone(() => {
    child.kill('SIGKILL')
  })
  const text = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text.out += part
  })
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    text.err += part
  })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }))
  return {
    process: child,
    stdout: () => text.out,
    stderr: () => text.err,
    ended: () => ended,
    async printed(pattern) {
      let hasEnded = false
      while (!hasEnded) {
        hasEnded = await Promise.race([once(child.stdout, 'data').then(() => false), ended.then(() => true)])
        const match = pattern.exec(text.out)
        if (match !== null) return match
      }
      throw new Error(`ended with ${child.exitCode}: ${text.err}`)
    },
  }
}

/** Starts the gateway as a process of its own and waits until it serves. */
export async function runGateway(
  dataDir: string,
  env: Record<string, string> = {},
  runProgram: (program: 'main', args: readonly string[], env: Record<string, string>) => Child = run,
): Promise<Child & { baseUrl: string }> {
  return served(runProgram('main', [], { ...ANYWHERE, DATA_DIR: dataDir, ...env }))
}

async function served(child: Child): Promise<Child & { baseUrl: string }> {
  const [, baseUrl = ''] = await child.printed(/Score gateway +(\S+)\n(?:.*\n)*\n$/)
  return { ...child, baseUrl }
}
