import { isUtf8 } from 'node:buffer'

/** Bytes that are no UTF-8. */
export class NotUtf8Error extends Error {
  override readonly name = 'NotUtf8Error'
}

const LEAST_BLOCK = 1_024
const MOST_BLOCK = 65_536

/**
 * Bytes as they arrive, copied into blocks: a body that comes in a million parts takes no more memory than one that comes
 * in one.
 */
export class ByteBlocks {
  readonly #blocks: Buffer[] = []
  /** How much of the last block is used. */
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
   * The text between two offsets, both of them at characters' ends.
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
    // Decoded, each wrong byte would become a replacement character.
    if (!isUtf8(bytes)) throw new NotUtf8Error()
    return bytes.toString('utf8')
  }
}
