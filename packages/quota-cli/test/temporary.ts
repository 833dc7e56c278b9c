import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Of the test file that is at work: files of one worker share this module. */
let folder: string | undefined
let files = 0

function inFolder(name: string): string {
  folder ??= mkdtempSync(join(tmpdir(), 'quota-cli-'))
  return join(folder, name)
}

/** To be registered by each test file: removes what it made. */
export function removeFiles(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  folder = undefined
}

/** Writes a file that is removed after the tests; content other than text or bytes is written as JSON. */
export function fileOf(content: unknown, extension = 'json'): string {
  const path = inFolder(`${++files}.${extension}`)
  const isText = typeof content === 'string' || content instanceof Uint8Array
  writeFileSync(path, isText ? content : JSON.stringify(content))
  return path
}

/** A path where nothing is yet. */
export function newPath(extension: string): string {
  return inFolder(`${++files}.${extension}`)
}
