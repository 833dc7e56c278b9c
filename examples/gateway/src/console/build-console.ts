import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'

const SOURCES = dirname(createRequire(import.meta.url).resolve('example-console/package.json'))
const BUILT = join(SOURCES, 'dist')
/** What the console is built from, besides `src`. */
const OTHER_SOURCES = ['package.json', 'index.html', 'vite.config.ts', 'tsconfig.json']
/** Packages that become a part of it, or make it: another version of them is another console. */
const PACKAGES = ['preact', 'uplot', 'openapi-fetch', 'vite']

/**
 * The folder with the console's built files. Its name is a hash of all sources, so that a build is never older than
 * they are, whatever a clock or a checkout did to the files' times. A missing build is made in a process of its own, in
 * about a second.
 *
 * @param report called when a build begins and when it ends
 */
export async function buildConsole(report: (line: string) => void = () => undefined): Promise<string> {
  const folder = join(BUILT, await hashOfSources())
  if (existsSync(folder)) return folder
  report('Building the console ...')
  const started = performance.now()
  // Moved into its place when it is whole: processes that start together may all build.
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
  // A build is for production, however the gateway runs.
  const env = { ...process.env, NODE_ENV: 'production', NODE_OPTIONS: '' }
  await promisify(execFile)(process.execPath, args, { cwd: SOURCES, env })
}

async function moveInto(folder: string, unfinished: string): Promise<void> {
  await mkdir(BUILT, { recursive: true })
  await rename(unfinished, folder).catch((error: unknown) => {
    // Another process was faster, with the same files.
    if (!existsSync(folder)) throw error
  })
}

/** Earlier ones. A gateway that serves one of them has read it. */
async function removeOthers(folder: string): Promise<void> {
  const names = await readdir(BUILT)
  const others = names.map((name) => join(BUILT, name)).filter((other) => other !== folder)
  await Promise.all(others.map((other) => rm(other, { recursive: true, force: true })))
}
