import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from './cache-folder.ts'

const run = promisify(execFile)

/** A Debian package, unpacked outside its place. */
export interface Unpacked {
  /** The folder that replaces `/`. */
  readonly root: string
  /** The environment in which its programs find their libraries. */
  readonly env: NodeJS.ProcessEnv
}

/**
 * Unpacks a Debian package, and missing dependencies, into a cache folder, without root and without installing
 * anything. It takes some seconds the first time.
 *
 * @throws if the machine has no apt, or apt cannot reach its servers
 */
export async function unpackDebianPackage(name: string): Promise<Unpacked> {
  const cache = cacheFolder()
  const root = join(cache, name)
  if (!existsSync(root)) {
    await mkdir(cache, { recursive: true })
    await exclusively(join(cache, `${name}.lock`), async () => {
      if (!existsSync(root)) await unpackInto(cache, name, root)
    })
  }
  const folders = (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => /\.so(?:\.|$)/.test(entry.name))
    .map((entry) => entry.parentPath)
  return { root, env: { ...process.env, LD_LIBRARY_PATH: [...new Set(folders)].join(delimiter) } }
}

/**
 * Waits until no other process works with this file: all processes of a run would download the same. Every Debian has
 * `flock`. Its lock ends with `cat`, and so with this process.
 */
async function exclusively(file: string, work: () => Promise<void>): Promise<void> {
  const holder = spawn('flock', [file, 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(holder, 'exit')
  // Without `flock`, `ended` rejects, and the write error adds nothing.
  holder.stdin.on('error', () => undefined)
  try {
    holder.stdin.write('locked')
    await Promise.race([once(holder.stdout, 'data'), ended])
    await work()
  } finally {
    holder.stdin.end()
    await ended
  }
}

async function unpackInto(cache: string, name: string, root: string): Promise<void> {
  // Renamed when complete, so that a killed process leaves no half folder.
  const work = await mkdtemp(join(cache, `${name}-`))
  try {
    const debs = await download(name, work)
    const unpacked = join(work, 'root')
    for (const deb of debs) await run('dpkg', ['-x', deb, unpacked])
    await rename(unpacked, root)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Downloads the packages with a separate apt state. apt verifies their signatures as usual. */
async function download(name: string, work: string): Promise<string[]> {
  for (const folder of ['lists/partial', 'archives/partial']) await mkdir(join(work, folder), { recursive: true })
  const options = [
    `Dir::State::lists=${join(work, 'lists')}`,
    `Dir::Cache=${work}`,
    `Dir::Cache::archives=${join(work, 'archives')}`,
    'Debug::NoLocking=1',
    ...(process.getuid?.() === 0 ? ['APT::Sandbox::User=root'] : []),
  ].flatMap((option) => ['-o', option])
  await run('apt-get', [...options, 'update'])
  await run('apt-get', [
    ...options,
    'install',
    '--reinstall',
    '--yes',
    '--download-only',
    '--no-install-recommends',
    name,
  ])
  const archives = join(work, 'archives')
  return (await readdir(archives)).filter((file) => file.endsWith('.deb')).map((file) => join(archives, file))
}
