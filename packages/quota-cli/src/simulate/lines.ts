import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type CliError, usageError } from '../cli-error.ts'
import { fileError } from '../files.ts'
import { plain } from '../text.ts'

/** The longest line that is read, in characters. */
const MAX_LINE = 65_536

/** How many bytes are read together. */
const PIECE_BYTES = 262_144

/** Lines that were read together. */
export interface Lines {
  /** Without their ends; `undefined` for a line of more than {@link MAX_LINE} characters. */
  readonly lines: readonly (string | undefined)[]
  /** The part of the file that was read, 0 to 1; `undefined` if the size is unknown. */
  readonly done: number | undefined
}

/**
 * Reads a log line by line: a file, a gzip file (`.gz`), or `-` for standard input. Only a piece and a line are in
 * memory.
 *
 * @throws {CliError} `usage` if it cannot be read
 */
export async function* readLines(path: string): AsyncGenerator<Lines> {
  const size = path === '-' ? undefined : await sizeOf(path)
  const file = path === '-' ? undefined : createReadStream(path, { highWaterMark: PIECE_BYTES })
  const source: Readable = file ?? process.stdin
  const text = path.endsWith('.gz') ? source.pipe(createGunzip()) : source
  source.on('error', (error: Error) => text.destroy(error))
  text.setEncoding('utf8')
  const splitter = new Splitter()
  try {
    for await (const piece of text) {
      yield {
        lines: splitter.take(String(piece)),
        done: file && size !== undefined ? file.bytesRead / size : undefined,
      }
    }
    yield { lines: splitter.end(), done: 1 }
  } catch (error) {
    throw readError(path, error)
  } finally {
    source.destroy()
  }
}

/** Splits the pieces of a text into lines. */
class Splitter {
  /** The beginning of a line that continues in the next piece; `undefined`: it is too long already. */
  #rest: string | undefined = ''

  take(piece: string): (string | undefined)[] {
    const [first = '', ...others] = piece.split('\n')
    this.#append(first)
    return others.map((part) => {
      const line = this.#rest
      this.#rest = ''
      this.#append(part)
      return line
    })
  }

  /** A last line without an end. */
  end(): (string | undefined)[] {
    return this.#rest === '' ? [] : [this.#rest]
  }

  #append(part: string): void {
    const isTooLong = this.#rest === undefined || this.#rest.length + part.length > MAX_LINE
    this.#rest = isTooLong ? undefined : this.#rest + part
  }
}

function readError(path: string, error: unknown): CliError {
  if (!String((error as { code?: unknown }).code).startsWith('Z_')) return fileError('read', path, error)
  const remedy = 'gunzip as much as possible, and simulate the result'
  return usageError(`${plain(path, 200)} is not a gzip file, or is truncated`, remedy, error)
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch((error: unknown) => {
    throw fileError('read', path, error)
  })
  if (found.isDirectory()) throw fileError('read', path, { code: 'EISDIR' })
  return found.size
}
