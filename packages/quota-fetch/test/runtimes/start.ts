import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import { binaryOf, type Runtime } from './binaries.ts'

export interface RunningRuntime {
  readonly url: string
  /** What it has complained of. */
  complaints(): string
  stop(): Promise<void>
}

/** One file of an entry of this folder with all of the sources it needs. */
export async function bundled(entry: string, folder: string): Promise<string> {
  const outfile = join(folder, `${entry}.mjs`)
  await build({
    entryPoints: [join(import.meta.dirname, `${entry}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@scoregw/source'],
    loader: { '.lua': 'text' },
    // CommonJS dependencies load Node's modules by `require`.
    banner:
      entry === 'on-workerd'
        ? {}
        : {
            js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url)",
          },
    logLevel: 'error',
  })
  return outfile
}

const WORKERD_CONFIG = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.mjs", esModule = embed "on-workerd.mjs")],
  compatibilityDate = "2026-06-01",
  compatibilityFlags = ["enable_request_signal"]
);
`

/** Starts a runtime that serves the scenarios sent to it. */
export async function startRuntime(runtime: Runtime): Promise<RunningRuntime> {
  const [binary, folder] = [await binaryOf(runtime), await mkdtemp(join(tmpdir(), 'quota-runtime-'))]
  const file = await bundled(`on-${runtime}`, folder)
  await writeFile(join(folder, 'config.capnp'), WORKERD_CONFIG)
  const args = {
    bun: ['run', file],
    deno: ['run', '--allow-all', '--no-config', file],
    workerd: ['serve', join(folder, 'config.capnp'), '--control-fd=3'],
  }[runtime]
  const child = spawn(binary, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  let complaints = ''
  child.stderr?.on('data', (text) => {
    complaints += String(text)
  })
  const port = await Promise.race([portOf(child, runtime), failed(child, () => complaints)])
  return {
    url: `http://127.0.0.1:${port}`,
    complaints: () => complaints,
    async stop() {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The port is the first line it writes; workerd reports it on a channel of its own. */
async function portOf(child: ChildProcess, runtime: Runtime): Promise<number> {
  const channel = runtime === 'workerd' ? child.stdio[3] : child.stdout
  const [line] = (await once(createInterface(channel as NodeJS.ReadableStream), 'line')) as [string]
  return runtime === 'workerd' ? (JSON.parse(line) as { port: number }).port : Number(line)
}

async function failed(child: ChildProcess, complaints: () => string): Promise<never> {
  await once(child, 'exit')
  throw new Error(`the runtime ended: ${complaints()}`)
}
