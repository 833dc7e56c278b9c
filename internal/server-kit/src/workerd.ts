import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { runtimeBinary } from './runtime-binary.ts'

/** A Worker for workerd, the runtime of Cloudflare Workers. */
export interface WorkerOptions {
  /** The bundled Worker, one ES module. */
  readonly script: string
  readonly flags?: readonly string[]
  /** Classes of Durable Objects with SQLite, by their bindings. */
  readonly objects?: Readonly<Record<string, string>>
  /**
   * The folder of the objects' storage.
   *
   * @default a temporary one
   */
  readonly storage?: string
}

export interface RunningWorker {
  readonly url: string
  /** Its output. */
  complaints(): string
  /** Kills it. */
  stop(): Promise<void>
}

/** A place where storage doesn't wait for a disk, if there is one. */
function temporary(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
}

/** Starts workerd, which is downloaded from npm the first time. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const [binary, folder] = [await runtimeBinary('workerd'), await mkdtemp(join(temporary(), 'quota-workerd-'))]
  await writeFile(join(folder, 'worker.mjs'), options.script)
  await mkdir(join(folder, 'storage'))
  await writeFile(join(folder, 'config.capnp'), configOf({ storage: join(folder, 'storage'), ...options }))
  const args = ['serve', join(folder, 'config.capnp'), '--control-fd=3', '--experimental']
  const child = spawn(binary, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  let complaints = ''
  for (const output of [child.stdout, child.stderr]) {
    output?.on('data', (text) => {
      complaints += String(text)
    })
  }
  const ended = once(child, 'exit')
  const failed = async (): Promise<never> => {
    await ended
    throw new Error(`workerd ended: ${complaints}`)
  }
  const listening = once(createInterface(child.stdio[3] as NodeJS.ReadableStream), 'line')
  const [line] = (await Promise.race([listening, failed()])) as [string]
  return {
    url: `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}`,
    complaints: () => complaints,
    async stop() {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function configOf({ flags = [], objects = {}, storage }: WorkerOptions & { readonly storage: string }): string {
  const classes = [...new Set(Object.values(objects))]
  const namespaces = classes.map((name) => `(className = "${name}", uniqueKey = "${name}", enableSql = true)`)
  const bindings = Object.entries(objects).map(
    ([name, className]) => `(name = "${name}", durableObjectNamespace = "${className}")`,
  )
  return `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "storage", disk = (path = ${JSON.stringify(storage)}, writable = true))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
  compatibilityDate = "2026-06-01",
  compatibilityFlags = ${JSON.stringify(flags)},
  durableObjectNamespaces = [${namespaces}],
  durableObjectStorage = (localDisk = "storage"),
  bindings = [${bindings}]
);
`
}
