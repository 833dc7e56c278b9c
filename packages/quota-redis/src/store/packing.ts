import { clearRow } from '@scoregw/quota/rows'

/** Bytes of a window in a row: start as 6 bytes, used as 7, both little-endian. */
const WINDOW_BYTES = 13
const TWO_TO_48 = 2 ** 48

/** Rows as the server held them (a version byte, then the windows), unpacked one behind the other. */
export function cellsOfRows(rows: readonly (Buffer | null)[], windows: number): Float64Array {
  const cells = new Float64Array(rows.length * 2 * windows)
  for (let row = 0; row < rows.length; row++) {
    const at = row * 2 * windows
    const bytes = rows[row]
    if (bytes?.length === 1 + WINDOW_BYTES * windows) unpackWindows(bytes, 1, windows, cells, at)
    else clearRow(cells, at, windows)
  }
  return cells
}

/** The states kept with a reservation's id; windows are never closed in them. */
export function statesOfRecord(packed: Buffer): number[] {
  const windows = packed.length / WINDOW_BYTES
  const cells = new Float64Array(2 * windows)
  unpackWindows(packed, 0, windows, cells, 0)
  return Array.from(cells)
}

function unpackWindows(bytes: Buffer, from: number, windows: number, cells: Float64Array, at: number): void {
  for (let w = 0; w < windows; w++) {
    const offset = from + w * WINDOW_BYTES
    cells[at + 2 * w] = bytes.readUIntLE(offset, 6)
    // 7 bytes with a sign: the low 6 as they are, the seventh signed.
    cells[at + 2 * w + 1] = bytes.readInt8(offset + 12) * TWO_TO_48 + bytes.readUIntLE(offset + 6, 6)
  }
}
