import { CLOSED, clearRow, type Layout, NOT_OPEN } from '@scoregw/quota/store'
import { DAMAGED, ROW_VERSION } from '../lua/script.ts'

/** Version byte and hash of the list of limits. */
const HEAD_BYTES = 5
/** Bytes of what a cell has used, and of its start, both little-endian. */
const USED_BYTES = 7
const START_BYTES = 6
const CELL_BYTES = USED_BYTES + START_BYTES
const TWO_TO_32 = 2 ** 32
const TWO_TO_48 = 2 ** 48
const DAMAGED_BYTE = DAMAGED.charCodeAt(0)

/** Bytes of a row in the policy's own form. */
export function rowBytes({ size }: Pick<Layout, 'size'>): number {
  return HEAD_BYTES + CELL_BYTES * size
}

/**
 * Reads a row as replies show it: in the policy's own form, zeros where there is none, or marked as damaged.
 *
 * @returns `false`: it cannot be read, and its cells are as if it had never been there
 */
export function readRow(bytes: Buffer, from: number, { size }: Layout, cells: Float64Array, at: number): boolean {
  if (bytes[from] !== ROW_VERSION) {
    clearRow(cells, at, size)
    return bytes[from] !== DAMAGED_BYTE
  }
  readCells(bytes, from + HEAD_BYTES, size, cells, at)
  return true
}

/** The cells of a row: what all of them used, then when all of them started. */
function readCells(bytes: Buffer, from: number, size: number, cells: Float64Array | number[], at: number): void {
  const startsFrom = from + USED_BYTES * size
  for (let c = 0; c < size; c++) {
    cells[at + 2 * c] = sixBytes(bytes, startsFrom + START_BYTES * c)
    cells[at + 2 * c + 1] = usedAt(bytes, from + USED_BYTES * c)
  }
}

/** 7 bytes with a sign: the low 6 as they are, the seventh signed. */
function usedAt(bytes: Buffer, offset: number): number {
  return ((bytes[offset + 6]! << 24) >> 24) * TWO_TO_48 + sixBytes(bytes, offset)
}

/** Without a sign. Written out, as a process reads it several times a decision. */
function sixBytes(bytes: Buffer, offset: number): number {
  const low = bytes[offset]! | (bytes[offset + 1]! << 8) | (bytes[offset + 2]! << 16) | (bytes[offset + 3]! << 24)
  return (low >>> 0) + (bytes[offset + 4]! | (bytes[offset + 5]! << 8)) * TWO_TO_32
}

/**
 * The states that the record of an id keeps.
 *
 * @param order where each of its rows stands among the layers of the request
 */
export function statesOfRecord(bytes: Buffer, { size, rowCells }: Layout, order: readonly number[]): number[] {
  const states = new Array<number>(order.length * rowCells).fill(0.5)
  for (const [index, slot] of order.entries()) {
    const at = slot * rowCells
    readCells(bytes, index * CELL_BYTES * size, size, states, at)
    for (let i = at; i < at + rowCells; i += 2) if (states[i + 1] === CLOSED) [states[i], states[i + 1]] = [NOT_OPEN, 0]
  }
  return states
}
