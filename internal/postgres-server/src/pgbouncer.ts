import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, type Program, startOnFreePort } from '@scoregw/server-kit'
import { postgresBinary } from './postgres-binary.ts'
import { giveTo } from './template.ts'

const HELP =
  'No PgBouncer for the tests: install pgbouncer, or name it in PGBOUNCER_BIN. POSTGRES_TESTS=off leaves these tests out.'

/** How long a client keeps the same session of the server: until it disconnects, or until its transaction ends. */
export type PoolMode = 'session' | 'transaction'

/** A PgBouncer before a server. It ends with this process. */
export interface PgBouncer {
  readonly port: number
  stop(): Promise<void>
}

/** Ends the program when standard input ends, which is at the latest when the tests' process does. */
const GUARDED = 'exec 3<&0; "$0" "$1" & pid=$!; { cat <&3; kill $pid; } >/dev/null 2>&1 & wait $pid'

let found: Promise<Program> | undefined

/** Starts a PgBouncer that leads to the server on a port of this machine. */
export async function startPgBouncer(serverPort: number, mode: PoolMode): Promise<PgBouncer> {
  found ??= findProgram({
    variable: 'PGBOUNCER_BIN',
    names: ['pgbouncer'],
    debianPackage: 'pgbouncer',
    packagedPath: 'usr/sbin/pgbouncer',
    help: HELP,
  })
  const program = await found
  const { port, running } = await startOnFreePort((free) => launch(program, settingsOf(serverPort, mode, free)))
  const ended = new Promise((resolve) => running.once('exit', resolve))
  return {
    port,
    async stop() {
      running.stdin?.end()
      await ended
    },
  }
}

/** Sessions take turns, so that the transactions of one client hardly ever get the same one. */
function settingsOf(serverPort: number, mode: PoolMode, port: number): string {
  return `[databases]
* = host=127.0.0.1 port=${serverPort} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 6
server_round_robin = 1
`
}

/** Resolves when it accepts connections. */
async function launch({ path, env }: Program, settings: string): Promise<ChildProcess> {
  const { user } = await postgresBinary()
  const folder = await mkdtemp(join(tmpdir(), 'scoregw-pgbouncer-'))
  try {
    const file = join(folder, 'pgbouncer.ini')
    await writeFile(file, settings)
    await giveTo(user, folder)
    const args = ['-c', GUARDED, path, file]
    const pooler = spawn('sh', args, { cwd: folder, env, ...user, stdio: ['pipe', 'ignore', 'pipe'] })
    await listening(pooler)
    return pooler
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function listening(pooler: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = ''
    pooler.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text
      if (log.includes('process up')) resolve()
    })
    pooler.once('error', reject)
    pooler.once('exit', () => reject(new Error(`PgBouncer ended while starting:\n${log}`)))
  })
}
