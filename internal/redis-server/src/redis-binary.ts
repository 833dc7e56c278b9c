import { accessSync, constants } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { unpackDebianPackage } from './debian-package.ts'

/** A server program and the environment that it needs. */
export interface RedisBinary {
  readonly path: string
  readonly env: NodeJS.ProcessEnv
}

const HELP =
  'No Redis server for the tests: install redis-server or valkey-server, or name one in REDIS_SERVER_BIN. ' +
  'REDIS_TESTS=off leaves these tests out.'

let found: Promise<RedisBinary> | undefined

/** `REDIS_SERVER_BIN`, else a server on PATH, else Debian's package unpacked without root, else a clear error. */
export function redisBinary(): Promise<RedisBinary> {
  found ??= find()
  return found
}

async function find(): Promise<RedisBinary> {
  const named = process.env.REDIS_SERVER_BIN
  if (named !== undefined && named !== '') {
    if (!isExecutable(named)) throw new Error(`REDIS_SERVER_BIN names no program: ${named}. ${HELP}`)
    return { path: named, env: process.env }
  }
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
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
  const root = await unpackDebianPackage('redis-server')
  const path = join(root, 'usr/bin/redis-server')
  accessSync(path, constants.X_OK)
  const folders = (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => /\.so(?:\.|$)/.test(entry.name))
    .map((entry) => entry.parentPath)
  return { path, env: { ...process.env, LD_LIBRARY_PATH: [...new Set(folders)].join(delimiter) } }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
