import { CLOSED, clearRow, type Layout, NOT_OPEN } from '@scoregw/quota/store'
import { DAMAGED, ROW_VERSION } from '../lua/script.ts'

/** Version byte and hash of the list of limits. */
const HEAD_BYTES = 5
/** Bytes of what a window used, and of its start, both little-endian. */
const USED_BYTES = 7
const START_BYTES = 6
const WINDOW_BYTES = USED_BYTES + START_BYTES
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
  const { rowCells, width, hash } = layout
  const cells = new Float64Array(rows.length * rowCells)
  const damaged: number[] = []
  for (let row = 0; row < rows.length; row++) {
    const at = row * rowCells
    const bytes = rows[row]
    if (bytes?.length === HEAD_BYTES + WINDOW_BYTES * width && bytes[0] === ROW_VERSION && isOf(bytes, hash)) {
      unpackWindows(bytes, width, cells, at)
    } else if (bytes?.length === 1 && bytes.toString('latin1') === DAMAGED) {
      damaged.push(row)
      for (let i = at; i < at + rowCells; i += 2) [cells[i], cells[i + 1]] = [now, CLOSED]
    } else {
      clearRow(cells, at, width)
    }
  }
  return { cells, damaged }
}

function isOf(bytes: Buffer, hash: number): boolean {
  return bytes.readUInt32LE(1) === hash
}

/** The windows of a row: what all of them used, then when all of them started. */
function unpackWindows(bytes: Buffer, width: number, cells: Float64Array, at: number): void {
  const startsAt = HEAD_BYTES + USED_BYTES * width
  for (let w = 0; w < width; w++) {
    cells[at + 2 * w] = bytes.readUIntLE(startsAt + START_BYTES * w, START_BYTES)
    cells[at + 2 * w + 1] = usedAt(bytes, HEAD_BYTES + USED_BYTES * w)
  }
}

/** 7 bytes with a sign: the low 6 as they are, the seventh signed. */
function usedAt(bytes: Buffer, offset: number): number {
  return bytes.readInt8(offset + 6) * TWO_TO_48 + bytes.readUIntLE(offset, 6)
}

/** The states kept with a reservation's id, of the windows that are asked for: start and used of each in turn. */
export function statesOfRecord(packed: Buffer): number[] {
  const states = new Array<number>((2 * packed.length) / WINDOW_BYTES).fill(0.5)
  for (let w = 0; w < states.length / 2; w++) {
    const used = usedAt(packed, w * WINDOW_BYTES + START_BYTES)
    states[2 * w] = used === CLOSED ? NOT_OPEN : packed.readUIntLE(w * WINDOW_BYTES, START_BYTES)
    states[2 * w + 1] = used === CLOSED ? 0 : used
  }
  return states
}
