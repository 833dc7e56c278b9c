import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { usageError } from '../cli-error.ts'
import { fileError } from '../files.ts'
import { plain } from '../text.ts'

/** The longest line that is checked, in bytes. Longer lines are skipped. */
const MAX_LINE_BYTES = 65_536

/** Bytes of a log, and the same as text with one byte per character. Each form is faster for some work. */
export interface Piece {
  readonly bytes: Buffer
  readonly text: string
}

/** The text of these bytes, as UTF-8. */
export function textOf({ bytes, text }: Piece, start: number, end: number): string {
  for (let at = start; at < end; at++) if (bytes[at]! >= FIRST_OF_MORE) return bytes.toString('utf8', start, end)
  return text.slice(start, end)
}

/** Bytes from this value on belong to multi-byte characters. */
const FIRST_OF_MORE = 128

/** Receives a log's lines. */
export interface LineListener {
  /** Receives a line without its end: the bytes from `start` to `end`. @returns whether to continue */
  line(piece: Piece, start: number, end: number): boolean
  /** Called for a line longer than {@link MAX_LINE_BYTES}. @returns whether to continue */
  tooLong(): boolean
  /** Called after each piece. @param read bytes of the file so far; @param size all bytes, `undefined` if unknown */
  progress(read: number, size: number | undefined): void
}

/** How many bytes are read together. */
const PIECE_BYTES = 262_144

const NEWLINE = '\n'
const RETURN = 13

/**
 * Reads a log line by line: a file, a gzip file (`.gz`), or `-` for standard input. Only a piece and a line are in
 * memory.
 *
 * @throws {CliError} `usage` if it cannot be read
 */
export async function readLines(path: string, listener: LineListener, signal: AbortSignal): Promise<void> {
  const size = path === '-' ? undefined : await sizeOf(path)
  const source: Readable = path === '-' ? process.stdin : createReadStream(path, { highWaterMark: PIECE_BYTES })
  const bytes = { read: 0 }
  source.on('data', (piece: Buffer) => {
    bytes.read += piece.length
  })
  const isPacked = path.endsWith('.gz')
  const text = isPacked ? source.pipe(createGunzip()) : source
  source.on('error', (error) => text.destroy(error))
  const splitter = new Splitter(listener)
  try {
    for await (const piece of text) {
      const isOver = !splitter.take(piece as Buffer) || signal.aborted
      listener.progress(bytes.read, size)
      if (isOver) return
    }
    splitter.end()
  } catch (error) {
    if (isPacked && String((error as { code?: unknown }).code).startsWith('Z_')) {
      const remedy = 'gunzip as much as possible, and simulate the result'
      throw usageError(`${plain(path, 200)} is not a gzip file, or is truncated`, remedy, error)
    }
    throw fileError('read', path, error)
  } finally {
    source.destroy()
  }
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch((error: unknown) => {
    throw fileError('read', path, error)
  })
  if (found.isDirectory()) throw fileError('read', path, { code: 'EISDIR' })
  return found.size
}

/** Splits pieces of a file into lines. */
class Splitter {
  readonly #listener: LineListener
  /** The beginning of a line that continues in the next piece. */
  #rest: Buffer | undefined
  /** Whether the current line is too long and is being skipped. */
  #isPassing = false

  constructor(listener: LineListener) {
    this.#listener = listener
  }

  /** @returns whether to continue */
  take(bytes: Buffer): boolean {
    const piece = { bytes, text: bytes.toString('latin1') }
    const { text } = piece
    let start = 0
    for (let end = text.indexOf(NEWLINE); end !== -1; end = text.indexOf(NEWLINE, start)) {
      if (!this.#finish(piece, start, end)) return false
      start = end + 1
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start))
    return true
  }

  /** Passes on a last line without an end. */
  end(): void {
    if (this.#isPassing || this.#rest !== undefined) this.#finish(NOTHING, 0, 0)
  }

  #finish(piece: Piece, start: number, end: number): boolean {
    if (this.#rest !== undefined) this.#keep(piece.bytes.subarray(start, end))
    if (this.#isPassing || end - start > MAX_LINE_BYTES) {
      this.#isPassing = false
      this.#rest = undefined
      return this.#listener.tooLong()
    }
    const rest = this.#rest
    if (rest === undefined) return this.#line(piece, start, end)
    this.#rest = undefined
    return this.#line({ bytes: rest, text: rest.toString('latin1') }, 0, rest.length)
  }

  #line(piece: Piece, start: number, end: number): boolean {
    const hasReturn = end > start && piece.bytes[end - 1] === RETURN
    return this.#listener.line(piece, start, hasReturn ? end - 1 : end)
  }

  #keep(more: Uint8Array): void {
    if (this.#isPassing) return
    const rest = this.#rest === undefined ? Buffer.from(more) : Buffer.concat([this.#rest, more])
    this.#isPassing = rest.length > MAX_LINE_BYTES
    this.#rest = this.#isPassing ? undefined : rest
  }
}

const NOTHING: Piece = { bytes: Buffer.alloc(0), text: '' }
