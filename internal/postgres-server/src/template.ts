import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '@scoregw/server-kit'
import type { PostgresBinary } from './postgres-binary.ts'

const run = promisify(execFile)

/** Small log files make the copy small. Nothing depends on the machine's locale. */
const INITDB_ARGS = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--wal-segsize=1']

let made: Promise<string> | undefined

/** Copies a new server's data folder to `data` in about 40 ms; `initdb` takes 700 ms. */
export async function newDataFolder(binary: PostgresBinary, data: string): Promise<void> {
  made ??= template(binary)
  // `-p` keeps the owner, which the server requires.
  await run('cp', ['-pPR', await made, data])
}

/** The folder to copy, created once per version, user and arguments, and kept between runs. */
async function template(binary: PostgresBinary): Promise<string> {
  const version = (await run(binary.postgres, ['--version'], { env: binary.env })).stdout.trim()
  const key = JSON.stringify([version, binary.user, INITDB_ARGS])
  const cache = cacheFolder()
  const folder = join(cache, `postgres-data-${createHash('sha256').update(key).digest('hex').slice(0, 16)}`)
  if (!existsSync(folder)) await makeTemplate(binary, cache, folder)
  return folder
}

async function makeTemplate(binary: PostgresBinary, cache: string, folder: string): Promise<void> {
  await mkdir(cache, { recursive: true })
  // Created next to its place and renamed, so that concurrent tests never see half a folder.
  const work = await mkdtemp(join(cache, 'postgres-data-'))
  try {
    await giveTo(binary.user, work)
    const data = join(work, 'data')
    const options = { cwd: work, env: binary.env, ...binary.user }
    await run(binary.initdb, ['--pgdata', data, ...INITDB_ARGS], options)
    await rename(data, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error
    })
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Gives a folder to the servers' user, if that isn't this process's user. */
export async function giveTo({ uid, gid }: PostgresBinary['user'], folder: string): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid)
}
