import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Program, startOnFreePort } from '@scoregw/server-kit'
import { Redis } from 'ioredis'
import { redisBinary } from './redis-binary.ts'

/** Whether tests with real servers run, for `describe.runIf(redisTests)`. `REDIS_TESTS=off` skips them. */
export const redisTests: boolean = process.env.REDIS_TESTS !== 'off'

export interface RedisOptions {
  /** Further arguments for the server, for example `['--maxmemory', '2mb']`. */
  readonly args?: readonly string[]
  /** Whether it writes an append-only file, synced before every reply. @default false */
  readonly aof?: boolean
  /** The folder of its files. @default a temporary folder, removed with the server */
  readonly dir?: string
  /** A configuration file, which the server may write to. */
  readonly configFile?: string
  /** A program that runs the server, and its arguments, for example `['valgrind', '--tool=callgrind']`. */
  readonly under?: readonly string[]
}

/** A private server on a free loopback port. It ends with this process, even if that is killed. */
export interface RedisServer {
  readonly port: number
  /** The server's process id until a restart. */
  readonly pid: number
  readonly url: string
  /** Ends the server and removes its temporary folder. */
  stop(): Promise<void>
  /** Sends SIGKILL, as if the machine were lost. */
  kill(): Promise<void>
  /** Starts it again on the same port and files. Ends it first if it runs. */
  restart(): Promise<void>
  /** Sends SIGSTOP: connections stay open, and nothing is answered. */
  pause(): void
  /** Sends SIGCONT. */
  resume(): void
  /** Sends one command over a separate connection, for example `cli('GET', 'k')`. */
  cli(...args: string[]): Promise<unknown>
}

/** Starts a server, and resolves when it accepts connections: in 10 to 30 ms. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const binary = await redisBinary()
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'scoregw-redis-')))
  const ownDir = options.dir === undefined ? dir : undefined
  const args = [
    ...['--bind', '127.0.0.1', '--dir', dir, '--save', '', '--daemonize', 'no', '--maxmemory-policy', 'noeviction'],
    ...(options.aof === true ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no']),
    ...(options.args ?? []),
  ]
  const configFile = options.configFile === undefined ? [] : [options.configFile]
  const [program = binary.path, ...words] = [...(options.under ?? []), binary.path]
  const start = (port: number) =>
    launch({ path: program, env: binary.env }, [...words, ...configFile, '--port', String(port), ...args], ownDir)
  const removeOwnDir = async () => {
    if (ownDir !== undefined) await rm(ownDir, { recursive: true, force: true })
  }
  let { port, running } = await startOnFreePort(start).catch(async (error: unknown) => {
    await removeOwnDir()
    throw error
  })
  const kill = () => running.end('SIGKILL')

  return {
    port,
    pid: running.pid,
    url: `redis://127.0.0.1:${port}`,
    kill,
    async stop() {
      await kill()
      await removeOwnDir()
    },
    async restart() {
      await running.end('SIGTERM')
      running = await start(port)
    },
    pause: () => running.signal('SIGSTOP'),
    resume: () => running.signal('SIGCONT'),
    cli: (...words) => command(port, words),
  }
}

interface Running {
  readonly pid: number
  signal(name: NodeJS.Signals): void
  /** Resolves when the process has ended. */
  end(name: NodeJS.Signals): Promise<void>
}

async function launch(binary: Program, args: readonly string[], ownDir: string | undefined): Promise<Running> {
  const server = spawn(binary.path, args, { env: binary.env, stdio: ['ignore', 'pipe', 'pipe'] })
  tellGuard(server.pid, ownDir ?? NO_FOLDER)
  const gone = new Promise<void>((resolve) => {
    // `close` follows both an exit and a failed start.
    server.once('close', () => {
      tellGuard(server.pid, GONE)
      resolve()
    })
  })
  await accepting(server)
  return {
    pid: server.pid ?? Number.NaN,
    signal: (name) => {
      server.kill(name)
    },
    async end(name) {
      // A paused process only reacts to SIGKILL.
      if (name !== 'SIGKILL') server.kill('SIGCONT')
      server.kill(name)
      await gone
    },
  }
}

/** Resolves when the server reports that it is ready, after loading its files. Rejects if it ends before. */
function accepting(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    for (const stream of [server.stdout, server.stderr]) {
      stream?.on('data', (data: Buffer) => {
        output = (output + data.toString()).slice(-10_000)
        if (/Ready to accept connections|Sentinel ID is/.test(output)) resolve()
      })
    }
    server.once('error', reject)
    // Not at `exit`: its last output may not have arrived by then.
    server.once('close', () => reject(new Error(`The Redis server ended while starting:\n${output}`)))
  })
}

const NO_FOLDER = '-'
const GONE = 'gone'

// A line names a process and its folder. After the last, when this process has ended, those that aren't gone are ended.
const GUARD = `
  while read -r pid folder; do
    case " $pids " in *" $pid "*) ;; *) pids="$pids $pid" ;; esac
    eval "folder_$pid=\\$folder"
  done
  for pid in $pids; do
    eval "folder=\\$folder_$pid"
    [ "$folder" = ${GONE} ] || kill -KILL "$pid"
    case $folder in ${GONE} | ${NO_FOLDER}) ;; *) rm -rf "$folder" ;; esac
  done
`

let guard: ChildProcess | undefined

/** One shell for all servers of this process, which outlives it. */
function tellGuard(pid: number | undefined, folder: string): void {
  if (pid === undefined) return
  guard ??= spawn('sh', ['-c', GUARD], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  guard.unref()
  guard.stdin?.write(`${pid} ${folder}\n`)
}

async function command(port: number, [name, ...args]: readonly string[]): Promise<unknown> {
  if (name === undefined) throw new TypeError('No command was given')
  const client = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: () => null })
  // The command rejects with the same error.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await client.call(name, ...args)
  } finally {
    client.disconnect()
  }
}
