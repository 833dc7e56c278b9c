import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import type { Guard } from './guard.ts'
import type { PostgresBinary } from './postgres-binary.ts'

/** A server's first process, and the processes that it starts. */
export interface Postmaster {
  /** Signals all of its processes. */
  signalAll(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void
  /** SIGINT closes open connections and ends the server. */
  signal(name: 'SIGINT' | 'SIGQUIT'): void
  /** The end of its log. */
  log(): string
  /** Resolves when all of its processes have ended. */
  readonly gone: Promise<void>
}

/** How many characters of its log are kept. */
const LOG_LENGTH = 100_000

/** Starts the server and resolves when it accepts connections. */
export async function launch(
  { env, user }: PostgresBinary,
  dir: string,
  [program = '', ...args]: readonly string[],
  guard: Guard,
): Promise<Postmaster> {
  const server = spawn(program, args, { cwd: dir, env, ...user, stdio: ['ignore', 'ignore', 'pipe'] })
  guard.watch(server.pid)
  let running = true
  const gone = new Promise<void>((resolve) => {
    // `close` follows an exit once no process holds standard error open, as its children do until they end. It also
    // follows a failed start.
    server.once('close', () => {
      running = false
      guard.watch(undefined)
      resolve()
    })
  })
  let log = ''
  server.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-LOG_LENGTH)
  })
  await accepting(server, () => log)
  return {
    gone,
    log: () => log,
    signal: (name) => {
      server.kill(name)
    },
    signalAll: (name) => {
      if (running && server.pid !== undefined) signalTree(server.pid, name)
    },
  }
}

/** Resolves when the server reports that it is ready, after recovery. Rejects if it ends before. */
function accepting(server: ChildProcess, log: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.stderr?.on('data', () => {
      if (log().includes('ready to accept connections')) resolve()
    })
    server.once('error', reject)
    server.once('close', () => reject(new Error(`The PostgreSQL server ended while starting:\n${log()}`)))
  })
}

/** The server is stopped while its children are listed, so that it cannot start another one. */
function signalTree(pid: number, name: NodeJS.Signals): void {
  send(pid, 'SIGSTOP')
  for (const child of childrenOf(pid)) send(child, name)
  send(pid, name)
}

function childrenOf(pid: number): number[] {
  const listed = `/proc/${pid}/task/${pid}/children`
  if (existsSync(listed)) return readFileSync(listed, 'utf8').split(' ').filter(Boolean).map(Number)
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child = 0, parent]) => (parent === pid ? [child] : []))
}

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    // A process that has just ended needs no signal.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
