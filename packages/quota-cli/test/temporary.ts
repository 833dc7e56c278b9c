import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'quota-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0

/** A file that is gone after the tests; what is no text is written as JSON. */
export function fileOf(content: unknown, extension = 'json'): string {
  const path = join(folder, `${++files}.${extension}`)
  const isText = typeof content === 'string' || content instanceof Uint8Array
  writeFileSync(path, isText ? content : JSON.stringify(content))
  return path
}

/** A path where nothing is yet. */
export function newPath(extension: string): string {
  return join(folder, `${++files}.${extension}`)
}
