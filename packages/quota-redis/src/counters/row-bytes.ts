import type { Cells } from '@scoregw/quota/internal'

/** Bytes before a row's cells: a version, and the hash of its list of limits. */
export const HEAD_BYTES = 5
/** Bytes of an amount, and of a time. A cell is its used amount and its start. */
export const AMOUNT_BYTES = 7
export const TIME_BYTES = 6
export const CELL_BYTES: number = AMOUNT_BYTES + TIME_BYTES
/** Bytes of a count of amounts. */
export const COUNT_BYTES = 2

/**
 * Reads a cell of a row's bytes as `[startedAt, used]`.
 *
 * @param from where the cells begin
 * @param size how many cells the row has
 */
export function readCell(bytes: Buffer, from: number, size: number, c: number, cells: Cells, at: number): void {
  cells[at] = sixBytes(bytes, from + 7 * size + 6 * c)
  cells[at + 1] = sevenBytes(bytes, from + 7 * c)
}

/** Writes an amount of 0 or more. */
export function writeAmount(bytes: Buffer, amount: number, offset: number): void {
  const high = Math.floor(amount / 2 ** 48)
  bytes.writeUIntLE(amount - high * 2 ** 48, offset, TIME_BYTES)
  bytes[offset + TIME_BYTES] = high
}

/** A signed number. */
export function sevenBytes(bytes: Buffer, offset: number): number {
  return ((bytes[offset + 6]! << 24) >> 24) * 2 ** 48 + sixBytes(bytes, offset)
}

/** Replaces Node's own function, which takes several times as long. */
export function sixBytes(bytes: Buffer, offset: number): number {
  const low = bytes[offset]! | (bytes[offset + 1]! << 8) | (bytes[offset + 2]! << 16) | (bytes[offset + 3]! << 24)
  return (low >>> 0) + (bytes[offset + 4]! | (bytes[offset + 5]! << 8)) * 2 ** 32
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
