import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from './cache-folder.ts'
// The packages with only a runtime's program, without the scripts that packages for all platforms need.
import PACKAGES from './runtimes.json' with { type: 'json' }

const run = promisify(execFile)

export type Runtime = keyof typeof PACKAGES

/**
 * Finds a runtime: `BUN_BIN`, `DENO_BIN` or `WORKERD_BIN`, else from npm, cached outside this folder. It takes some
 * seconds the first time.
 */
export async function runtimeBinary(runtime: Runtime): Promise<string> {
  const named = process.env[`${runtime.toUpperCase()}_BIN`]
  if (named !== undefined) return named
  const platforms: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> = PACKAGES[runtime]
  const name = platforms[process.platform]?.[process.arch]
  if (name === undefined) throw new Error(`no ${runtime} for this platform: name one with ${runtime.toUpperCase()}_BIN`)
  const folder = join(cacheFolder(), name.replaceAll('/', '+'))
  if (!existsSync(folder)) await fetchPackage(name, folder)
  return join(folder, 'package', runtime === 'deno' ? '' : 'bin', runtime)
}

/** Downloaded next to its place and renamed, so that concurrent tests never see half a folder. */
async function fetchPackage(name: string, folder: string): Promise<void> {
  await mkdir(cacheFolder(), { recursive: true })
  const work = await mkdtemp(join(cacheFolder(), 'runtime-'))
  try {
    await run('npm', ['pack', name, '--pack-destination', work], { cwd: work })
    const [tarball = ''] = await readdir(work)
    await run('tar', ['-xzf', tarball], { cwd: work })
    await rm(join(work, tarball))
    await rename(work, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error
    })
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
