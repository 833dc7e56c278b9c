import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { unpackDebianPackage } from './debian-package.ts'
import { isExecutable, pathFolders } from './executables.ts'

/** A program, and the environment that it needs. */
export interface Program {
  readonly path: string
  readonly env: NodeJS.ProcessEnv
  /** The folder that replaces `/`, if the program was unpacked from a Debian package. */
  readonly root?: string
}

export interface ProgramSource {
  /** The environment variable that may name another program, if there is one. */
  readonly variable?: string
  /** The program's names on PATH, the preferred one first. */
  readonly names: readonly string[]
  readonly debianPackage: string
  /** The program's path in that package. */
  readonly packagedPath: string
  /** Names on PATH that are taken only where the package can't be unpacked, because they are slower. */
  readonly slowerNames?: readonly string[]
  /** The package to install, for the message if nothing is found. */
  readonly help: string
}

/**
 * Finds a program: the one that the variable names, else on PATH, else in Debian's package, unpacked without root, else a
 * slower one on PATH.
 *
 * @throws if the variable names no program, or nothing was found
 */
export async function findProgram(source: ProgramSource): Promise<Program> {
  const { variable = '' } = source
  const named = process.env[variable]
  if (named !== undefined && named !== '') {
    if (!isExecutable(named)) throw new Error(`${variable} names no program: ${named}. ${source.help}`)
    return { path: named, env: process.env }
  }
  const onPath = findOnPath(source.names)
  if (onPath !== undefined) return onPath
  try {
    const { root, env } = await unpackDebianPackage(source.debianPackage)
    const path = join(root, source.packagedPath)
    accessSync(path, constants.X_OK)
    return { path, env, root }
  } catch (error) {
    const slower = findOnPath(source.slowerNames ?? [])
    if (slower !== undefined) return slower
    throw new Error(source.help, { cause: error })
  }
}

function findOnPath(names: readonly string[]): Program | undefined {
  const folders = pathFolders()
  for (const name of names) {
    const path = folders.map((folder) => join(folder, name)).find(isExecutable)
    if (path !== undefined) return { path, env: process.env }
  }
  return undefined
}
