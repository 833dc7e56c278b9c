import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'

const SOURCES = dirname(createRequire(import.meta.url).resolve('example-console/package.json'))
const BUILT = join(SOURCES, 'dist')
/** The console's sources outside `src`. */
const OTHER_SOURCES = ['package.json', 'index.html', 'vite.config.ts', 'tsconfig.json']
/** Packages in the console or its build. A different version of one is a different console. */
const PACKAGES = ['preact', 'uplot', 'openapi-fetch', 'vite']

/**
 * The folder of the console's built files. Its name is a hash of all sources, so a build is never outdated, whatever
 * the files' times. A missing build is made in a separate process, in about a second.
 *
 * @param report called when a build starts and ends
 */
export async function buildConsole(report: (line: string) => void = () => undefined): Promise<string> {
  const folder = join(BUILT, await hashOfSources())
  if (existsSync(folder)) return folder
  report('Building the console ...')
  const started = performance.now()
  // Moved into place when complete, because processes that start together may all build.
  await mkdir(join(SOURCES, '.cache'), { recursive: true })
  const unfinished = await mkdtemp(join(SOURCES, '.cache', 'build-'))
  try {
    await runVite(unfinished)
    await moveInto(folder, unfinished)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  await removeOthers(folder)
  report(`Building the console ... ${((performance.now() - started) / 1_000).toFixed(1)} s`)
  return folder
}

async function hashOfSources(): Promise<string> {
  const entries = await readdir(join(SOURCES, 'src'), { recursive: true, withFileTypes: true })
  const own = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const packages = PACKAGES.map((name) => join(SOURCES, 'node_modules', name, 'package.json'))
  const files = [...own, ...OTHER_SOURCES.map((name) => join(SOURCES, name)), ...packages]
  const hash = createHash('sha256')
  for (const file of files.sort()) hash.update(`${relative(SOURCES, file)}\0${await readFile(file, 'utf8')}\0`)
  return hash.digest('hex').slice(0, 16)
}

async function runVite(outDir: string): Promise<void> {
  const vite = join(SOURCES, 'node_modules', 'vite', 'bin', 'vite.js')
  const args = [vite, 'build', '--logLevel', 'warn', '--outDir', outDir, '--emptyOutDir']
  // Always a production build, whatever the gateway's mode.
  const env = { ...process.env, NODE_ENV: 'production', NODE_OPTIONS: '' }
  await promisify(execFile)(process.execPath, args, { cwd: SOURCES, env })
}

async function moveInto(folder: string, unfinished: string): Promise<void> {
  await mkdir(BUILT, { recursive: true })
  await rename(unfinished, folder).catch((error: unknown) => {
    // Another process has just built the same files.
    if (!existsSync(folder)) throw error
  })
}

/** Removes earlier builds. A running gateway has already read its own. */
async function removeOthers(folder: string): Promise<void> {
  const names = await readdir(BUILT)
  const others = names.map((name) => join(BUILT, name)).filter((other) => other !== folder)
  await Promise.all(others.map((other) => rm(other, { recursive: true, force: true })))
}
