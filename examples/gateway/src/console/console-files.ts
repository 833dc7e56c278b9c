import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type PackedFile, packedFile } from '../pages/packed-file.ts'
import { buildConsole } from './build-console.ts'

/** The console, read: the page and what it loads, by name. */
export interface ConsoleFiles {
  readonly page: PackedFile
  readonly assets: ReadonlyMap<string, PackedFile>
}

let read: Promise<ConsoleFiles> | undefined

/**
 * The console's files, built if they have to be, and read once in a process.
 *
 * @param report called when a build begins and when it ends
 */
export function consoleFiles(report?: (line: string) => void): Promise<ConsoleFiles> {
  read ??= readFiles(report)
  return read
}

async function readFiles(report?: (line: string) => void): Promise<ConsoleFiles> {
  const folder = await buildConsole(report)
  const names = await readdir(join(folder, 'assets'))
  const assets = await Promise.all(
    names.map(async (name) => [name, await packedFile(name, await readFile(join(folder, 'assets', name)))] as const),
  )
  const page = await packedFile('index.html', await readFile(join(folder, 'index.html')))
  return { page, assets: new Map(assets) }
}
