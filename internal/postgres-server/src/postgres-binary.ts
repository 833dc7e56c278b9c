import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isExecutable, pathFolders, unpackDebianPackage } from '@scoregw/server-kit'

const run = promisify(execFile)

/** The server's programs, their environment, and the user who runs them. */
export interface PostgresBinary {
  readonly postgres: string
  readonly initdb: string
  readonly env: NodeJS.ProcessEnv
  /** For the options of a process: empty, or a user other than root, since PostgreSQL refuses to run as root. */
  readonly user: { readonly uid?: number; readonly gid?: number }
}

const HELP =
  'No PostgreSQL server for the tests: install postgresql, or name the folder of its programs postgres and initdb in ' +
  'POSTGRES_BIN_DIR. POSTGRES_TESTS=off leaves these tests out.'

/** Found programs, by the environment variable's value. */
const found = new Map<string | undefined, Promise<PostgresBinary>>()

/**
 * Finds PostgreSQL: `POSTGRES_BIN_DIR`, else a folder of PATH, else the newest version where Debian installs it, else
 * Debian's package unpacked without root. Throws a clear error if all fail.
 */
export function postgresBinary(): Promise<PostgresBinary> {
  const named = process.env.POSTGRES_BIN_DIR
  const known = found.get(named) ?? find()
  found.set(named, known)
  return known
}

async function find(): Promise<PostgresBinary> {
  const { folder, env } = await findFolder()
  return {
    postgres: join(folder, 'postgres'),
    initdb: join(folder, 'initdb'),
    // Tests read their output, so it is in English everywhere.
    env: { ...env, LC_ALL: 'C' },
    user: await userOfServers(),
  }
}

async function findFolder(): Promise<{ folder: string; env: NodeJS.ProcessEnv }> {
  const named = process.env.POSTGRES_BIN_DIR
  if (named !== undefined && named !== '') {
    if (!hasPrograms(named)) throw new Error(`POSTGRES_BIN_DIR has no postgres and initdb: ${named}. ${HELP}`)
    return { folder: named, env: process.env }
  }
  const installed = pathFolders().find(hasPrograms) ?? (await newestBelow('/'))
  if (installed !== undefined) return { folder: installed, env: process.env }
  try {
    const { root, env } = await unpackDebianPackage('postgresql')
    const folder = await newestBelow(root)
    if (folder === undefined) throw new Error(`${root} has no postgres and initdb`)
    return { folder, env }
  } catch (error) {
    throw new Error(HELP, { cause: error })
  }
}

/** Debian installs every major version in its own folder, none of them on PATH. */
async function newestBelow(root: string): Promise<string | undefined> {
  const versions = join(root, 'usr/lib/postgresql')
  if (!existsSync(versions)) return undefined
  return (await readdir(versions))
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(versions, version, 'bin'))
    .find(hasPrograms)
}

function hasPrograms(folder: string): boolean {
  return ['postgres', 'initdb'].every((name) => isExecutable(join(folder, name)))
}

/** `postgres` comes with an installed package; every machine has `nobody`. */
async function userOfServers(): Promise<PostgresBinary['user']> {
  if (process.getuid?.() !== 0) return {}
  return (await idsOf('postgres').catch(() => undefined)) ?? (await idsOf('nobody'))
}

async function idsOf(user: string): Promise<{ uid: number; gid: number }> {
  const [uid, gid] = await Promise.all(['-u', '-g'].map(async (flag) => Number((await run('id', [flag, user])).stdout)))
  if (uid === undefined || gid === undefined) throw new Error(`No user ${user}`)
  return { uid, gid }
}
