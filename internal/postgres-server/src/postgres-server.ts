import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { startOnFreePort } from '@scoregw/server-kit'
import { Client } from 'pg'
import { startGuard } from './guard.ts'
import { postgresBinary } from './postgres-binary.ts'
import { launch } from './postmaster.ts'
import { makeServerFolder } from './server-folder.ts'
import { giveTo, newDataFolder } from './template.ts'

export { type PgBouncer, type PoolMode, startPgBouncer } from './pgbouncer.ts'

/** Whether tests with real servers run, for `describe.runIf(postgresTests)`. `POSTGRES_TESTS=off` skips them. */
export const postgresTests: boolean = process.env.POSTGRES_TESTS !== 'off'

export interface PostgresOptions {
  /** Whether commits survive a kill: the log is synced before a commit is answered. @default false */
  readonly durable?: boolean
  /** Further settings of the server, for example `{ max_connections: '5' }`. */
  readonly settings?: Readonly<Record<string, string>>
  /** A program that runs the server, with its arguments. @default none */
  readonly under?: readonly string[]
}

/** A private server on a free loopback port. It ends with this process, even if that is killed. */
export interface PostgresServer {
  readonly port: number
  /** The address of the database `postgres`, as a superuser. */
  readonly url: string
  /** Creates an empty database under a new name, and returns its URL. Takes about 30 ms. */
  createDatabase(): Promise<string>
  /** Removes a database, and ends its connections. */
  dropDatabase(databaseUrl: string): Promise<void>
  /** Ends the server and removes its temporary folder. */
  stop(): Promise<void>
  /** Sends SIGKILL to all of its processes, as if the machine were lost. */
  kill(): Promise<void>
  /** Starts it again on the same port and files. Ends it first, with its connections, if it runs. */
  restart(): Promise<void>
  /** Sends SIGSTOP to all of its processes: connections stay open, and nothing is answered. */
  pause(): void
  /** Sends SIGCONT to all of its processes. */
  resume(): void
  /** The end of its log since the last start: errors and their statements, and complete deadlock reports. */
  log(): string
  /**
   * Runs SQL over a separate connection, and returns the rows of the last statement.
   *
   * @param databaseUrl from `createDatabase()`; by default the database `postgres`
   */
  sql(text: string, databaseUrl?: string): Promise<Record<string, unknown>[]>
  /** Runs a client program of the same version, such as `pg_dump`. Rejects if it fails. */
  run(program: string, args: readonly string[]): Promise<void>
}

/** The server that all tests of a process share: no test stops it, and what a test needs is in a database of its own. */
export type SharedPostgres = Omit<PostgresServer, 'stop' | 'kill' | 'restart' | 'pause' | 'resume'>

let shared: Promise<SharedPostgres> | undefined

/** The process's server, with the usual settings, started for the first that asks. A start costs half a second. */
export function sharedPostgres(): Promise<SharedPostgres> {
  shared ??= startPostgres()
  return shared
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  max_connections: '60',
  shared_buffers: '16MB',
  // In its folder, which is removed with it. The machine's shared memory would survive a kill.
  dynamic_shared_memory_type: 'mmap',
  timezone: 'GMT',
  log_timezone: 'GMT',
}

const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

/** Starts a server, and resolves when it accepts connections: in about 100 ms, or a second for the machine's first. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const binary = await postgresBinary()
  const dir = await makeServerFolder()
  const guard = startGuard(dir)
  const settings = {
    ...SETTINGS,
    unix_socket_directories: dir,
    ...(options.durable === true ? {} : NOT_DURABLE),
    ...options.settings,
  }
  const data = join(dir, 'data')
  const args = ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const command = [...(options.under ?? []), binary.postgres, ...args]
  const start = (port: number) => launch(binary, dir, [...command, '-p', String(port)], guard)
  let { port, running } = await giveTo(binary.user, dir)
    .then(() => newDataFolder(binary, data))
    .then(() => startOnFreePort(start))
    .catch(async (error: unknown) => {
      await guard.finish()
      throw error
    })
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`

  const end = async (name: 'SIGINT' | 'SIGQUIT') => {
    // A paused process only reacts to SIGKILL.
    running.signalAll('SIGCONT')
    running.signal(name)
    await running.gone
  }

  return {
    port,
    url,
    async createDatabase() {
      const name = `test_${randomUUID().replaceAll('-', '')}`
      await query(url, `CREATE DATABASE ${name}`)
      return new URL(name, url).href
    },
    async dropDatabase(databaseUrl) {
      await query(url, `DROP DATABASE ${new URL(databaseUrl).pathname.slice(1)} WITH (FORCE)`)
    },
    async stop() {
      await end('SIGQUIT')
      await guard.finish()
    },
    async kill() {
      running.signalAll('SIGKILL')
      await running.gone
    },
    async restart() {
      await end('SIGINT')
      running = await start(port)
    },
    pause: () => running.signalAll('SIGSTOP'),
    resume: () => running.signalAll('SIGCONT'),
    log: () => running.log(),
    sql: (text, databaseUrl = url) => query(databaseUrl, text),
    async run(program, args) {
      const folder = dirname(await realpath(binary.postgres))
      await promisify(execFile)(join(folder, program), args, { env: binary.env })
    },
  }
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  // The query rejects with the same error.
  client.on('error', () => undefined)
  try {
    await client.connect()
    // Several statements return several results.
    return [await client.query(text)].flat().at(-1)?.rows ?? []
  } finally {
    await client.end()
  }
}
