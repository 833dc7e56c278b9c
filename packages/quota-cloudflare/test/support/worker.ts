import { join } from 'node:path'
import { type RunningWorker, startWorker, type WorkerOptions } from '@scoregw/server-kit'
import { build } from 'esbuild'

/** A Worker of `test/workers` as one module, from the sources. */
async function bundledWorker(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, '..', 'workers', entry)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['@scoregw/source', 'workerd'],
    external: ['node:*', 'cloudflare:workers'],
    logLevel: 'error',
  })
  return outputFiles[0]!.text
}

/** Serves a Worker of `test/workers`. */
export async function startEntry(entry: string, options: Omit<WorkerOptions, 'script'>): Promise<RunningWorker> {
  return startWorker({ flags: ['nodejs_compat'], ...options, script: await bundledWorker(entry) })
}
