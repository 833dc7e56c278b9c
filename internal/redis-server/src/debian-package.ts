import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Unpacks a Debian package, with those of its dependencies that the machine lacks, into a cache folder: without root,
 * and without installing anything. About four seconds the first time, none afterwards.
 *
 * @returns the folder that stands for `/`
 * @throws when the machine has no apt, or apt cannot reach its servers
 */
export async function unpackDebianPackage(name: string): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'scoregw-test-servers')
  const folder = join(cache, name)
  if (existsSync(folder)) return folder
  await mkdir(cache, { recursive: true })
  // Unpacked beside its place and moved there whole, so that two tests that do it at once cannot meet half a folder.
  const work = await mkdtemp(join(cache, `${name}-`))
  try {
    const debs = await download(name, work)
    const unpacked = join(work, 'root')
    for (const deb of debs) await run('dpkg', ['-x', deb, unpacked])
    await rename(unpacked, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error
    })
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  return folder
}

/** Downloads the packages with an apt state of our own; apt checks their signatures as always. */
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
  await run('apt-get', [...options, 'install', '--yes', '--download-only', '--no-install-recommends', name])
  const archives = join(work, 'archives')
  return (await readdir(archives)).filter((file) => file.endsWith('.deb')).map((file) => join(archives, file))
}
