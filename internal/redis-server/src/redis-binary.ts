import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { isExecutable, pathFolders, unpackDebianPackage } from '@scoregw/server-kit'

/** A server program and the environment that it needs. */
export interface RedisBinary {
  readonly path: string
  readonly env: NodeJS.ProcessEnv
}

const HELP =
  'No Redis server for the tests: install redis-server or valkey-server, or name one in REDIS_SERVER_BIN. ' +
  'REDIS_TESTS=off leaves these tests out.'

/** What was found, by what the environment named. */
const found = new Map<string | undefined, Promise<RedisBinary>>()

/** `REDIS_SERVER_BIN`, else a server on PATH, else Debian's package unpacked without root, else a clear error. */
export function redisBinary(): Promise<RedisBinary> {
  const named = process.env.REDIS_SERVER_BIN
  const known = found.get(named) ?? find()
  found.set(named, known)
  return known
}

async function find(): Promise<RedisBinary> {
  const named = process.env.REDIS_SERVER_BIN
  if (named !== undefined && named !== '') {
    if (!isExecutable(named)) throw new Error(`REDIS_SERVER_BIN names no program: ${named}. ${HELP}`)
    return { path: named, env: process.env }
  }
  const folders = pathFolders()
  for (const name of ['redis-server', 'valkey-server']) {
    const path = folders.map((folder) => join(folder, name)).find(isExecutable)
    if (path !== undefined) return { path, env: process.env }
  }
  try {
    return await unpacked()
  } catch (error) {
    throw new Error(HELP, { cause: error })
  }
}

async function unpacked(): Promise<RedisBinary> {
  const { root, env } = await unpackDebianPackage('redis-server')
  const path = join(root, 'usr/bin/redis-server')
  accessSync(path, constants.X_OK)
  return { path, env }
}
