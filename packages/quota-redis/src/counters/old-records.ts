import { decode } from '@msgpack/msgpack'
import { CLOSED, NOT_OPEN, type Settled } from '@scoregw/quota/store'
import type { Charge } from './charges.ts'
import { type ListBook, ROW_VERSION } from './lists.ts'
import type { Found, HoldOfRecord, IdRecord } from './record.ts'
import { CELL_BYTES, readCell, sevenBytes, sixBytes } from './row-bytes.ts'

/** The part of a hold's record after its head, packed with cmsgpack; texts are bytes. */
type OldHold = Readonly<Record<'category' | 'owner' | 'growths', Uint8Array>> &
  Readonly<Record<'keep' | 'taken' | 'ends' | 'list', number>> & {
    readonly costs: Amounts
    /** Alternating names and cells. */
    readonly rows: readonly Uint8Array[]
    /** Of its commit: charged, uncharged and reserved amounts. */
    readonly answer: false | readonly [Amounts, Amounts, Amounts]
  }
type Amounts = Readonly<Record<string, number>>

const STATES: Readonly<Record<string, IdRecord['state']>> = {
  R: 'reserved',
  C: 'committed',
  X: 'cancelled',
  E: 'expired',
}

/**
 * Reads a record as version 60fd3be7 wrote it: the state, when it ends (6 bytes), the hash of its list of cells (4).
 * Then come nonce, fingerprint, tables and cells, each after its length (2, 2, 2 and 4 bytes). For holds, the rest is
 * packed with cmsgpack.
 *
 * @param now the store's clock. An expired record counts as missing
 */
export function readOldRecord(bytes: Buffer, book: ListBook, now: number): Found {
  try {
    if (now >= sixBytes(bytes, 1)) return { mark: '' }
    let at = 11
    const next = (length: number): Buffer => {
      at += length
      return bytes.subarray(at - length, at)
    }
    const text = (): string => next(next(2).readUInt16LE()).toString()
    const [nonce, fingerprint, tables] = [text(), text(), text()]
    const cells = next(next(4).readUInt32LE())
    const packed = at < bytes.length ? (decode(bytes.subarray(at), { rawStrings: true }) as OldHold) : undefined
    const hashes = [bytes.readUInt32LE(7), ...(packed === undefined ? [] : [packed.list])]
    const lists = hashes.map((hash) => book.limitsOf(ROW_VERSION + 256 * hash))
    const state = STATES[bytes.toString('latin1', 0, 1)]!
    const unknown = hashes[lists.indexOf(undefined)]
    if (unknown !== undefined && state !== 'cancelled') {
      return { mark: '', unknownList: unknown.toString(16).padStart(8, '0') }
    }
    const [limits = [], ofHold = []] = lists
    const hold = packed && holdOf(packed, ofHold)
    const states = statesIn(cells, limits)
    return { mark: '', record: { mark: '', state, nonce, fingerprint, tables, limits, states, hold } }
  } catch {
    return { mark: '', isDamaged: true }
  }
}

function statesIn(cells: Buffer, limits: readonly string[]): number[] {
  const states: number[] = []
  for (let from = 0; limits.length > 0 && from < cells.length; from += CELL_BYTES * limits.length) {
    for (let c = 0; c < limits.length; c++) {
      const pair = [0, 0]
      readCell(cells, from, limits.length, c, pair, 0)
      states.push(...(pair[1] === CLOSED ? [NOT_OPEN, 0] : pair))
    }
  }
  return states
}

function holdOf(
  { category, owner, keep, costs, taken, ends, growths, rows, answer }: OldHold,
  limits: readonly string[],
): HoldOfRecord {
  const [charged, uncharged, reserved] = answer === false ? [] : answer
  const settled: Settled<Amounts> | undefined = charged && { charged, uncharged: uncharged!, reserved: reserved! }
  return {
    ...{ category: textOf(category), owner: textOf(owner), costs, takenAt: taken, endsAt: ends, keepMs: keep },
    ...{ charges: chargesIn(rows, limits), growths: textOf(growths).match(/.{8}/g) ?? [], answer: settled },
  }
}

function chargesIn(rows: readonly Uint8Array[], limits: readonly string[]): Charge[] {
  const charges: Charge[] = []
  for (let r = 0; r < rows.length; r += 2) {
    const [row, cells] = [textOf(rows[r]!), Buffer.from(rows[r + 1]!)]
    for (const [c, identity] of limits.entries()) {
      const amount = sevenBytes(cells, CELL_BYTES * c + 6)
      if (amount > 0) charges.push([row, identity, sixBytes(cells, CELL_BYTES * c), amount])
    }
  }
  return charges
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}
