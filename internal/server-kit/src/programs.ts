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
  /** The package to install, for the message if nothing is found. */
  readonly help: string
}

/**
 * Finds a program: the one that the variable names, else on PATH, else in Debian's package, unpacked without root.
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
  const folders = pathFolders()
  for (const name of source.names) {
    const path = folders.map((folder) => join(folder, name)).find(isExecutable)
    if (path !== undefined) return { path, env: process.env }
  }
  try {
    const { root, env } = await unpackDebianPackage(source.debianPackage)
    const path = join(root, source.packagedPath)
    accessSync(path, constants.X_OK)
    return { path, env, root }
  } catch (error) {
    throw new Error(source.help, { cause: error })
  }
}
