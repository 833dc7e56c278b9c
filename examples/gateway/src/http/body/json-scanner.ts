import type { BodyLimits } from './limits.ts'

/** Why a text is refused before it is parsed. */
export type ScanFault = 'depth' | 'elements' | 'malformed' | 'scalar' | 'string' | 'bytes' | 'entry'

/** Where a body's list is, and where it can be cut into pieces; byte offsets. */
export interface FoundList {
  /** After its opening bracket. */
  readonly start: number
  /** Its closing bracket. */
  end: number
  /** Commas between pieces. */
  readonly cuts: number[]
}

/** A piece ends once it has this many bytes: one or two milliseconds of parsing. */
const PIECE_BYTES = 32_768
const PIECE_ELEMENTS = 2_000

/** The open brackets are the bits of a number of this width. */
export const MAX_DEPTH = 31

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/**
 * Measures JSON as it arrives, without parsing it: depth, members and elements, and lengths of texts. The figures are
 * exact for valid JSON. Invalid JSON is left to the parser, except brackets that don't match: they are a fault here, so
 * that a list is cut where it really ends.
 * Hand-written: streaming parsers on npm build values, which costs the memory that this saves.
 */
export class JsonScanner {
  readonly #limits: BodyLimits
  readonly #name: Uint8Array | undefined
  /** Bytes that were pushed before the current ones. */
  #offset = 0
  #depth = 0
  /** One bit per level: whether it is an array. */
  #arrays = 0
  #elements = 0
  /** Whether a bracket was opened. */
  #hasBegun = false
  #isInString = false
  #isEscaped = false
  #stringStart = 0
  /** Whether the last byte that isn't a space opened a bracket. Only then can the value be empty. */
  #hasJustOpened = false
  /** How much of the list's name the last text of the outermost object matched; -1: it is another name. */
  #matched = -1
  /** Whether a member with that name is about to begin. */
  #isListNext = false
  #list: FoundList | undefined
  #isInList = false
  #listElements = 0
  #pieceStart = 0
  #pieceElements = 0
  #entryStart = 0
  #entryElements = 0

  constructor(limits: BodyLimits) {
    if (limits.depth > MAX_DEPTH) throw new RangeError(`a depth of ${MAX_DEPTH} at most can be counted`)
    this.#limits = limits
    this.#name = limits.list && new TextEncoder().encode(limits.list.name)
  }

  /** Members and elements so far. */
  get elements(): number {
    return this.#elements + this.#listElements
  }

  /** Set once the whole text was pushed, if it has such a list. */
  get list(): FoundList | undefined {
    return this.#isInList ? undefined : this.#list
  }

  /** Takes the next bytes. A fault that it returns is final. */
  push(bytes: Uint8Array): ScanFault | undefined {
    for (let index = 0; index < bytes.length; index++) {
      if (this.#isInString) index = this.#skipString(bytes, index)
      const byte = bytes[index]
      if (byte === undefined || isSpace(byte)) continue
      const fault = this.#take(byte, this.#offset + index)
      if (fault !== undefined) return fault
    }
    this.#offset += bytes.length
    if (this.#isInString && this.#isStringTooLong(this.#offset)) return 'string'
    return this.#isTooLarge() ? 'bytes' : undefined
  }

  #take(byte: number, at: number): ScanFault | undefined {
    if (this.#isInString) {
      this.#isInString = false
      return this.#isStringTooLong(at) ? 'string' : undefined
    }
    if (this.#depth === 0 && byte !== OPEN_ARRAY && byte !== OPEN_OBJECT) {
      // A number or text by itself is valid JSON, but no route accepts it as a body.
      return this.#hasBegun ? 'malformed' : 'scalar'
    }
    this.#hasBegun = true
    switch (byte) {
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        return this.#open(byte === OPEN_ARRAY, at)
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        return this.#close(byte === CLOSE_ARRAY, at)
      case COMMA:
        return this.#count() ?? this.#separate(at)
      case COLON:
        this.#isListNext = this.#matched === this.#name?.length
        return undefined
      case QUOTE:
        this.#isInString = true
        this.#stringStart = at
        this.#matched = this.#depth === 1 ? 0 : -1
    }
    return this.#fill()
  }

  #open(isArray: boolean, at: number): ScanFault | undefined {
    const fault = this.#fill()
    if (fault !== undefined) return fault
    if (this.#depth >= this.#limits.depth) return 'depth'
    const bit = 1 << this.#depth
    this.#arrays = isArray ? this.#arrays | bit : this.#arrays & ~bit
    this.#depth++
    this.#hasJustOpened = true
    if (isArray && this.#isListNext && this.#depth === 2 && this.#list === undefined && (this.#arrays & 1) === 0) {
      this.#list = { start: at + 1, end: at + 1, cuts: [] }
      this.#isInList = true
      this.#pieceStart = at + 1
      this.#entryStart = at + 1
    }
    this.#isListNext = false
    return undefined
  }

  #close(isArray: boolean, at: number): ScanFault | undefined {
    const isOpenArray = (this.#arrays & (1 << (this.#depth - 1))) !== 0
    if (isArray !== isOpenArray) return 'malformed'
    this.#hasJustOpened = false
    this.#depth--
    if (!this.#isInList || this.#depth !== 1 || this.#list === undefined) return undefined
    this.#isInList = false
    this.#list.end = at
    return this.#isEntryTooLarge(at) ? 'entry' : undefined
  }

  /** Ends an entry, if it belongs to the list. Enough entries make a piece. */
  #separate(at: number): ScanFault | undefined {
    if (!this.#isInList || this.#depth !== 2) return undefined
    if (this.#isEntryTooLarge(at)) return 'entry'
    this.#entryStart = at + 1
    this.#entryElements = 0
    if (at - this.#pieceStart < PIECE_BYTES && this.#pieceElements < PIECE_ELEMENTS) return undefined
    this.#list?.cuts.push(at)
    this.#pieceStart = at + 1
    this.#pieceElements = 0
    return undefined
  }

  /** The value that was opened last isn't empty: it has one more element than commas. */
  #fill(): ScanFault | undefined {
    if (!this.#hasJustOpened) return undefined
    this.#hasJustOpened = false
    return this.#count()
  }

  #count(): ScanFault | undefined {
    const { elements, list } = this.#limits
    if (!this.#isInList) return ++this.#elements > elements ? 'elements' : undefined
    this.#entryElements++
    this.#pieceElements++
    return ++this.#listElements > (list?.elements ?? 0) ? 'elements' : undefined
  }

  /** @returns the index of the closing quote, or after the last byte */
  #skipString(bytes: Uint8Array, from: number): number {
    for (let index = from; index < bytes.length; index++) {
      const byte = bytes[index] as number
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === BACKSLASH) this.#isEscaped = true
      else if (byte === QUOTE) return index
      if (this.#matched >= 0) this.#matched = byte === this.#name?.[this.#matched] ? this.#matched + 1 : -1
    }
    return bytes.length
  }

  #isStringTooLong(end: number): boolean {
    return end - this.#stringStart - 1 > this.#limits.stringBytes
  }

  #isEntryTooLarge(at: number): boolean {
    const { list } = this.#limits
    if (list === undefined) return false
    return at - this.#entryStart > list.entryBytes || this.#entryElements > list.entryElements
  }

  #isTooLarge(): boolean {
    const { bytes, list } = this.#limits
    if (list !== undefined && this.#offset > list.bytes) return true
    const end = this.#isInList ? this.#offset : (this.#list?.end ?? 0)
    return this.#offset - (end - (this.#list?.start ?? 0)) > bytes
  }
}
