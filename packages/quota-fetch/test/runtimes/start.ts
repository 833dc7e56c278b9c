import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Runtime, runtimeBinary, startWorker } from '@scoregw/server-kit'
import { build } from 'esbuild'

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

/** Starts a runtime that serves the scenarios sent to it. */
export async function startRuntime(runtime: Runtime): Promise<RunningRuntime> {
  const folder = await mkdtemp(join(tmpdir(), 'quota-runtime-'))
  const file = await bundled(`on-${runtime}`, folder)
  const running =
    runtime === 'workerd'
      ? await startWorker({ script: await readFile(file, 'utf8'), flags: ['enable_request_signal'] })
      : await startProgram(runtime, file)
  return {
    ...running,
    async stop() {
      await running.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function startProgram(runtime: 'bun' | 'deno', file: string): Promise<RunningRuntime> {
  const args = { bun: ['run', file], deno: ['run', '--allow-all', '--no-config', file] }[runtime]
  const child = spawn(await runtimeBinary(runtime), args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let complaints = ''
  child.stderr.on('data', (text) => {
    complaints += String(text)
  })
  const failed = once(child, 'exit').then(() => {
    throw new Error(`the runtime ended: ${complaints}`)
  })
  // The port is the first line it writes.
  const [port] = (await Promise.race([once(createInterface(child.stdout), 'line'), failed])) as [string]
  return {
    url: `http://127.0.0.1:${port}`,
    complaints: () => complaints,
    async stop() {
      child.kill('SIGKILL')
      await failed.catch(() => undefined)
    },
  }
}
