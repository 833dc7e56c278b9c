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

/** Rows of a reply, unpacked one behind the other. */
export interface UnpackedRows {
  readonly cells: Float64Array
  /** Which of them cannot be read, by their places in the reply. */
  readonly damaged: readonly number[]
}

/**
 * Unpacks rows as a script's reply shows them: in the policy's own form, or marked as damaged; those are then as a reset
 * at `now` would leave them. Whatever else is there is no row, and nobody looks at its cells.
 */
export function unpackRows(rows: readonly (Buffer | null)[], layout: Layout, now: number): UnpackedRows {
  const { rowCells, size, hash } = layout
  const cells = new Float64Array(rows.length * rowCells)
  const damaged: number[] = []
  for (let row = 0; row < rows.length; row++) {
    const at = row * rowCells
    const bytes = rows[row]
    if (bytes?.length === rowBytes(layout) && bytes[0] === ROW_VERSION && isOf(bytes, hash)) {
      unpackCells(bytes, 0, size, cells, at)
    } else if (bytes?.length === 1 && bytes.toString('latin1') === DAMAGED) {
      damaged.push(row)
      for (let i = at; i < at + rowCells; i += 2) [cells[i], cells[i + 1]] = [now, CLOSED]
    } else {
      clearRow(cells, at, size)
    }
  }
  return { cells, damaged }
}

/**
 * Unpacks rows in the policy's own form, one behind the other, all whose windows are open; also how many bytes they are.
 * Of a row that is not there they are zeros, and its cells then what somebody sees of it.
 */
export function unpackRowsTogether(
  bytes: Buffer,
  rows: number,
  layout: Layout,
): { readonly cells: Float64Array; readonly length: number } {
  const { rowCells, size } = layout
  const each = rowBytes(layout)
  const cells = new Float64Array(rows * rowCells)
  for (let row = 0; row < rows; row++) {
    if (bytes[row * each] === ROW_VERSION) unpackCells(bytes, row * each, size, cells, row * rowCells)
    else unseenRow(cells, row * rowCells, layout)
  }
  return { cells, length: rows * each }
}

/** What is seen of a row that is not there: no window open, no slot taken. */
function unseenRow(cells: Float64Array, at: number, { size, width }: Layout): void {
  clearRow(cells, at, size)
  for (let i = at; i < at + 2 * width; i += 2) [cells[i], cells[i + 1]] = [NOT_OPEN, 0]
}

function isOf(bytes: Buffer, hash: number): boolean {
  return bytes.readUInt32LE(1) === hash
}

/** The cells of a row that begins at `from`: what all of them used, then when all of them started. */
function unpackCells(bytes: Buffer, from: number, size: number, cells: Float64Array, at: number): void {
  const usedFrom = from + HEAD_BYTES
  const startsFrom = usedFrom + USED_BYTES * size
  for (let c = 0; c < size; c++) {
    cells[at + 2 * c] = sixBytes(bytes, startsFrom + START_BYTES * c)
    cells[at + 2 * c + 1] = usedAt(bytes, usedFrom + USED_BYTES * c)
  }
}

function rowBytes({ size }: Layout): number {
  return HEAD_BYTES + CELL_BYTES * size
}

/**
 * Unpacks rows that stand one behind the other in the policy's own form to where each belongs in `cells`. Those that could
 * not be read are passed over.
 */
export function unpackRowsInto(cells: Float64Array, places: readonly number[], packed: Buffer, layout: Layout): void {
  const length = rowBytes(layout)
  for (let l = 0; (l + 1) * length <= packed.length; l++) {
    if (packed[l * length] === ROW_VERSION) unpackCells(packed, l * length, layout.size, cells, places[l]!)
  }
}

/** 7 bytes with a sign: the low 6 as they are, the seventh signed. */
function usedAt(bytes: Buffer, offset: number): number {
  return ((bytes[offset + 6]! << 24) >> 24) * TWO_TO_48 + sixBytes(bytes, offset)
}

/** Without a sign. Spelled out, as a process reads it some times a decision. */
function sixBytes(bytes: Buffer, offset: number): number {
  const low = bytes[offset]! | (bytes[offset + 1]! << 8) | (bytes[offset + 2]! << 16) | (bytes[offset + 3]! << 24)
  return (low >>> 0) + (bytes[offset + 4]! | (bytes[offset + 5]! << 8)) * TWO_TO_32
}

/** The states kept with a reservation's id, of the cells that are asked for: start and used of each in turn. */
export function statesOfRecord(packed: Buffer): number[] {
  const states = new Array<number>((2 * packed.length) / CELL_BYTES).fill(0.5)
  for (let w = 0; w < states.length / 2; w++) {
    const used = usedAt(packed, w * CELL_BYTES + START_BYTES)
    states[2 * w] = used === CLOSED ? NOT_OPEN : packed.readUIntLE(w * CELL_BYTES, START_BYTES)
    states[2 * w + 1] = used === CLOSED ? 0 : used
  }
  return states
}
