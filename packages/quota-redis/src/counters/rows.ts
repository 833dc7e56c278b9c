import { cellOfIdentity, hash32, inRowOrder, type Layout, nth, RowLayout } from '@scoregw/quota/internal'
import { KINDS } from './numbers.ts'

/** A row of a call. */
export interface Row {
  readonly key: string
  /** From 1, among the rows of the call. */
  readonly place: number
  /** Where its cells begin among those of all rows. */
  readonly start: number
  readonly book: ListBook
  /** Its layer; -1: the policy lacks it. */
  readonly layer: number
  /** The position of its layer's first limit. */
  readonly first: number
}

/** A refund to a cell of a call's row. */
export interface PlacedRefund {
  readonly row: Row
  /** Its number, from 1. */
  readonly cell: number
  /** The start of the opening that is refunded. Below 0, the cell is closed. */
  readonly startedAt: number
  /** Below 0, it is charged regardless of the limits. */
  readonly amount: number
  /** Whether the cell is closed when nothing is left. */
  readonly closes: boolean
}

// Bytes ---------------------------------------------------------------------------------------------------------------

/** The version of a row's format, its first byte. */
export const ROW_VERSION = 2
/** Bytes before a row's cells: a version, and the hash of its list of limits. */
export const HEAD_BYTES = 5
/** Bytes of an amount, and of a time. A cell is its used amount and its start. */
export const AMOUNT_BYTES = 7
export const TIME_BYTES = 6
export const CELL_BYTES: number = AMOUNT_BYTES + TIME_BYTES
/** Bytes of a count of amounts. */
export const COUNT_BYTES = 2

/** The bytes of a row's cells. */
export interface StoredCells {
  readonly bytes: Buffer
  /** Where they begin. */
  readonly from: number
  /** How many they are. */
  readonly size: number
}

/** When a cell started, by its index. */
export function startOf({ bytes, from, size }: StoredCells, c: number): number {
  return sixBytes(bytes, from + AMOUNT_BYTES * size + TIME_BYTES * c)
}

/** What a cell has counted since. */
export function usedOf({ bytes, from }: StoredCells, c: number): number {
  return sevenBytes(bytes, from + AMOUNT_BYTES * c)
}

/** Writes an amount of 0 or more. */
export function writeAmount(bytes: Buffer, amount: number, offset: number): void {
  const high = Math.floor(amount / 2 ** 48)
  bytes.writeUIntLE(amount - high * 2 ** 48, offset, TIME_BYTES)
  bytes[offset + TIME_BYTES] = high
}

/** A signed number. */
export function sevenBytes(bytes: Buffer, offset: number): number {
  return bytes.readInt8(offset + TIME_BYTES) * 2 ** 48 + sixBytes(bytes, offset)
}

/** Quicker than `readUIntLE()`, several times. */
export function sixBytes(bytes: Buffer, offset: number): number {
  return bytes.readUInt32LE(offset) + bytes.readUInt16LE(offset + 4) * 2 ** 32
}

/**
 * The version of stored bytes, if it is another one than `known`. Versions are 1 to 31, so that no text looks like one.
 *
 * @param at where the version byte is
 */
export function otherVersionIn(bytes: Buffer, at: number, known: number): number | undefined {
  const version = bytes[at] ?? known
  return version === known || version === 0 || version > 31 ? undefined : version
}

// Lists of limits -----------------------------------------------------------------------------------------------------

/** A list of limits other than the policy's own. */
export interface OtherList {
  readonly head: number
  /** The numbers of its cells, in the order of a row. */
  readonly cells: readonly number[]
  /** This list plus the policy's own cells. */
  readonly all: { readonly head: number; readonly text: string; readonly cells: readonly number[] }
}

export function headOf(list: string): number {
  return ROW_VERSION + 256 * hash32(list)
}

/** The first bytes of the rows that use a list. */
function rowHead(list: string): Buffer {
  const bytes = Buffer.alloc(5)
  bytes.writeUIntLE(headOf(list), 0, 5)
  return bytes
}

/** A layer's rows. */
export interface LayerBook {
  readonly book: ListBook
  /** The position of the layer's first limit. */
  readonly first: number
}

/** The lists of limits of a policy's layers. Layers with the same limits have the same one. */
export class ListBooks {
  readonly all: readonly ListBook[]
  /** For rows of layers that the policy lacks. */
  readonly #none: LayerBook = { book: new ListBook(new RowLayout([])), first: 0 }
  readonly #byLayer: readonly LayerBook[]

  constructor({ rows }: Layout) {
    const byList = new Map<string, ListBook>()
    this.#byLayer = rows.map((row) => {
      const book = byList.get(row.list) ?? new ListBook(row)
      byList.set(row.list, book)
      return { book, first: row.first }
    })
    this.all = [...byList.values(), this.#none.book]
  }

  /** @param layer -1: one that the policy lacks */
  of(layer: number): LayerBook {
    return this.#byLayer[layer] ?? this.#none
  }

  /** The identities of a list, by the first bytes of its rows; `undefined` for an unknown list. */
  limitsOf(head: number): readonly string[] | undefined {
    for (const book of this.all) {
      const limits = book.limitsOf(head)
      if (limits !== undefined) return limits
    }
    return undefined
  }

  /** See {@link ListBook.learn}. */
  learn(text: string, hash: number): void {
    for (const book of this.all) book.learn(text, hash)
  }
}

/** The limits found in rows of one layer. Its own cells have the numbers 1 to `size`; those of other lists follow. */
export class ListBook {
  readonly layout: RowLayout
  /** The first bytes of its own rows, then its own list of limits. */
  readonly listText: Buffer
  /** How many cells its rows have (1 byte), and the first bytes of its rows. */
  readonly sizeAndHead: Buffer
  readonly identities: string[]
  readonly lists: Map<number, OtherList> = new Map<number, OtherList>()
  #cellNumbers: readonly number[] = []

  constructor(layout: RowLayout) {
    this.layout = layout
    this.listText = Buffer.concat([rowHead(layout.list), Buffer.from(layout.list)])
    this.sizeAndHead = Buffer.concat([Buffer.from([layout.size]), rowHead(layout.list)])
    this.identities = [...layout.identities]
  }

  /** The number of a cell, which is added if it is new. */
  numberOf(identity: string): number {
    const known = this.identities.indexOf(identity)
    return known === -1 ? this.identities.push(identity) : known + 1
  }

  /** The identities of a list, by the first bytes of its rows; `undefined` for an unknown list. */
  limitsOf(head: number): readonly string[] | undefined {
    if (head === headOf(this.layout.list)) return this.layout.identities
    return this.lists.get(head)?.cells.map((cell) => nth(this.identities, cell - 1))
  }

  /** @param hash the field under which the list was found. If it isn't the list's hash, no row can use the list */
  learn(text: string, hash: number = hash32(text)): void {
    if (hash !== hash32(text)) {
      const { list } = this.layout
      this.lists.set(ROW_VERSION + 256 * hash, {
        head: ROW_VERSION + 256 * hash,
        cells: [],
        all: { head: headOf(list), text: list, cells: [] },
      })
      return
    }
    const names = text.split('\n')
    const all = [...new Set([...this.layout.identities, ...names])]
    const union = inRowOrder(all.map((identity) => lengthAndLabel(identity))).map(({ identity }) => identity)
    const unionText = union.join('\n')
    const numbers = (list: readonly string[]): number[] => list.map((identity) => this.numberOf(identity))
    const list = {
      head: headOf(text),
      cells: numbers(names),
      all: { head: headOf(unionText), text: unionText, cells: numbers(union) },
    }
    this.lists.set(list.head, list)
    if (union.length > names.length) this.learn(unionText)
  }

  /** Kinds, then lengths of all cells, as scripts read them. */
  cellNumbers(): readonly number[] {
    if (this.#cellNumbers.length === 2 * this.identities.length) return this.#cellNumbers
    const cells = this.identities.map((identity) => cellOfIdentity(identity))
    this.#cellNumbers = [
      ...cells.map((cell) => KINDS[cell?.kind ?? 'rolling']),
      ...cells.map((cell) => cell?.lengthMs ?? Number.POSITIVE_INFINITY),
    ]
    return this.#cellNumbers
  }
}

function lengthAndLabel(identity: string): { identity: string; lengthMs: number; label: string } {
  const { lengthMs, label } = cellOfIdentity(identity) ?? { lengthMs: Number.POSITIVE_INFINITY, label: identity }
  return { identity, lengthMs, label }
}
