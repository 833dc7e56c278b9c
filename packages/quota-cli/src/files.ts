import { readFile, stat } from 'node:fs/promises'
import { type CliError, usageError } from './cli-error.ts'
import { plain } from './text.ts'

/** The largest file that is read whole, in bytes. */
const MAX_BYTES = 4 * 1_048_576

/** The system's error codes in words. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'it may not be read',
  EPERM: 'it may not be read',
  ENOTDIR: "a part of its path isn't a folder",
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
}

/** Why a file cannot be read or written, without a stack. */
export function fileError(verb: 'read' | 'write', path: string, error: unknown): CliError {
  const code = String((error as { code?: unknown }).code)
  const reason = REASONS[code] ?? (error instanceof Error ? plain(error.message, 200) : code)
  return usageError(`cannot ${verb} ${plain(path, 200)}: ${reason}`, undefined, error)
}

/** @throws {CliError} `usage` if the file cannot be read or is too large */
export async function readText(path: string): Promise<string> {
  const size = await stat(path).catch((error: unknown) => {
    throw fileError('read', path, error)
  })
  if (size.size > MAX_BYTES) throw usageError(`${plain(path, 200)} has ${size.size} bytes, more than any policy`)
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw fileError('read', path, error)
  })
}

/** @throws {CliError} `usage`, with line and column, for invalid JSON */
export function parseJson(path: string, text: string): unknown {
  const source = text.replace(/^\uFEFF/, '')
  try {
    return JSON.parse(source)
  } catch (error) {
    const remedy = 'JSON has no comments, no trailing commas, and double quotes around names'
    throw usageError(`${plain(path, 200)} is not JSON: ${whereOf(source, error)}`, remedy, error)
  }
}

/** Node's message has a position in some cases and an excerpt in others. */
function whereOf(source: string, error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  const [, position] = /at position (\d+)/.exec(message) ?? []
  const what = plain(message.replace(/(?: in JSON)? at position .*$/s, '').replace(/, "?\.{3}.*$/s, ''), 120)
  if (position === undefined) return what
  const before = source.slice(0, Number(position)).split('\n')
  return `${what}, line ${before.length}, column ${before.at(-1)!.length + 1}`
}
