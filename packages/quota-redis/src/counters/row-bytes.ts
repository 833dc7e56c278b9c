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
