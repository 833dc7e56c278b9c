import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { createGunzip, type Gunzip } from 'node:zlib'
import type { Share } from './byte-budget.ts'
import { JsonScanner, type ScanFault } from './json-scanner.ts'
import type { BodyLimits } from './limits.ts'

/** The bytes aren't UTF-8. */
export class NotUtf8Error extends Error {
  override readonly name = 'NotUtf8Error'
}

const LEAST_BLOCK = 1_024
const MOST_BLOCK = 65_536

/**
 * Bytes as they arrive, copied into blocks: a body that comes in a million chunks takes no more memory than one that
 * comes in a single chunk.
 * Hand-written: body-parser and raw-body keep a list of chunks, and measure a body by its bytes only.
 */
export class ByteBlocks {
  readonly #blocks: Buffer[] = []
  /** How many bytes of the last block are used. */
  #used = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  push(bytes: Uint8Array): void {
    let rest = bytes
    while (rest.length > 0) {
      let block = this.#blocks.at(-1)
      if (block === undefined || this.#used === block.length) {
        block = Buffer.allocUnsafeSlow(Math.min(Math.max(this.#length, rest.length, LEAST_BLOCK), MOST_BLOCK))
        this.#blocks.push(block)
        this.#used = 0
      }
      const part = rest.subarray(0, block.length - this.#used)
      block.set(part, this.#used)
      this.#used += part.length
      this.#length += part.length
      rest = rest.subarray(part.length)
    }
  }

  /**
   * The text between two offsets, each at the end of a character.
   *
   * @throws {NotUtf8Error}
   */
  text(start: number, end: number): string {
    const parts: Buffer[] = []
    let offset = 0
    for (const block of this.#blocks) {
      if (offset < end && offset + block.length > start) {
        parts.push(block.subarray(Math.max(start - offset, 0), Math.min(end - offset, block.length)))
      }
      offset += block.length
    }
    const bytes = Buffer.concat(parts)
    // Decoding would replace each invalid byte.
    if (!isUtf8(bytes)) throw new NotUtf8Error()
    return bytes.toString('utf8')
  }
}

/** A body that was measured and is small enough to be parsed. */
export interface MeasuredBody {
  readonly bytes: ByteBlocks
  readonly scanner: JsonScanner
}

/** Why a body was not read completely. */
export type ReadFault = ScanFault | 'busy' | 'aborted' | 'packing'

/**
 * Reads a body and measures it as it arrives. From the first byte above a limit, nothing is kept or decompressed.
 *
 * @param turn does something in the caller's next turn
 */
export function readBody(
  req: IncomingMessage,
  limits: BodyLimits,
  isPacked: boolean,
  share: Share,
  turn: (work: () => void) => void,
): Promise<MeasuredBody | ReadFault> {
  return new Promise((resolve) => {
    const bytes = new ByteBlocks()
    const scanner = new JsonScanner(limits)
    const gunzip: Gunzip | undefined = isPacked ? createGunzip() : undefined
    const source = gunzip ?? req

    let isOver = false
    const end = (result: MeasuredBody | ReadFault): void => {
      if (isOver) return
      isOver = true
      source.off('readable', come).off('end', whole)
      req.off('error', broken).off('close', broken)
      if (typeof result === 'string') {
        req.unpipe()
        gunzip?.destroy()
        // Read the rest and discard it: a client that is still sending would miss the response.
        req.resume()
      }
      resolve(result)
    }
    const take = (chunk: Buffer): void => {
      const fault = scanner.push(chunk)
      if (fault !== undefined) {
        end(fault)
        return
      }
      bytes.push(chunk)
      if (!share.grow(bytes.length, scanner.elements)) end('busy')
    }
    // One chunk per turn of the caller; meanwhile at most one more is taken from the network.
    const come = (): void => turn(next)
    const next = (): void => {
      const chunk = isOver ? null : (source.read() as Buffer | null)
      if (chunk === null) return
      take(chunk)
      // Until nothing is left: the stream emits `end` only after a read that finds it empty.
      if (!isOver) turn(next)
    }
    const whole = (): void => end({ bytes, scanner })
    // After its end, a compressed body is still being decompressed.
    const broken = (): void => {
      if (!req.readableEnded) end('aborted')
    }

    if (req.destroyed) {
      resolve('aborted')
      return
    }
    source.on('readable', come).on('end', whole)
    req.on('error', broken).on('close', broken)
    gunzip?.on('error', () => end('packing'))
    if (gunzip !== undefined) req.pipe(gunzip)
  })
}
