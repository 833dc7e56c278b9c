import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildConsole } from './build-console.ts'

/** The console, read: the page and what it loads, by name. */
export interface ConsoleFiles {
  readonly page: Buffer
  readonly assets: ReadonlyMap<string, Buffer>
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
    names.map(async (name) => [name, await readFile(join(folder, 'assets', name))] as const),
  )
  return { page: await readFile(join(folder, 'index.html')), assets: new Map(assets) }
}
