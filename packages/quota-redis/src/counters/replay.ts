import { QuotaError } from '@scoregw/quota'
import {
  add,
  CLOSED,
  clearRow,
  close,
  type Instant,
  type Layout,
  MAX_AHEAD_MS,
  notDone,
  otherVersion,
  reanchor,
  refund,
  type TakeRequest,
  view,
  type WindowStates,
} from '@scoregw/quota/store'
import { damagedRow } from '../connection/errors.ts'
import { type ListBook, ROW_VERSION } from './lists.ts'
import { STATUSES, type Status } from './numbers.ts'
import { CELL_BYTES, HEAD_BYTES, otherVersionIn, readCell } from './row-bytes.ts'

/** The server's reply to a batch: see `lua/batch.lua`. */
export type BatchReply = Buffer | readonly [text: Buffer, answers: readonly Buffer[]]
type Charge = Pick<TakeRequest, 'costs' | 'periods' | 'quotas'>

/** The rows of a batch as they were. The functions that all stores share replay the operations on them. */
export class Replay {
  /** The server's clock, epoch milliseconds. */
  readonly now: number
  /** One per operation; empty if all are admitted takes. */
  readonly statuses: string
  /** The settings in force, if a take of the batch depends on them. */
  readonly settingsRevision: string = ''
  readonly layout: Layout
  readonly #cells: Float64Array
  readonly #instant: Instant
  readonly #keys: readonly string[]
  /** Records and lists in the replies to operations, in order. */
  readonly #found: Buffer[] = []
  /** Rows that cannot be read, and their version if it is another one. */
  readonly #damaged = new Map<number, number | undefined>()

  /** @param keys of the rows */
  constructor(reply: BatchReply, keys: readonly string[], book: ListBook, instant: Instant) {
    const [text, answers] = Buffer.isBuffer(reply) ? [reply, []] : reply
    const { layout } = book
    this.layout = layout
    this.#instant = instant
    this.#keys = keys
    this.#cells = new Float64Array(keys.length * layout.rowCells)
    const rowBytes = HEAD_BYTES + CELL_BYTES * layout.size
    for (let row = 0; row < keys.length; row++) this.#readOwn(text, row * rowBytes, row)
    this.now = text.readDoubleLE(keys.length * rowBytes)
    this.statuses = text.toString('latin1', keys.length * rowBytes + 8)
    for (let i = 0; i < answers.length; i += 2) {
      const [name, value] = [answers[i]!, answers[i + 1]!]
      const what = name.toString('latin1')
      if (what === 'record' || what === 'list') this.#found.push(value)
      else if (what === 'revision') this.settingsRevision = value.toString('latin1')
      else if (what.startsWith('row ')) this.#readOther(value, book, Number(what.slice(4)) - 1)
      else book.learn(value.toString(), name.readUInt32LE(1))
    }
  }

  /** The status of an operation of the batch, by its place. */
  statusOf(operation: number): Status {
    const code = this.statuses[operation] ?? 'a'
    const status = STATUSES[code]
    if (status === undefined) throw new QuotaError('store_error', `the script answered an unknown status: ${code}`)
    return status
  }

  /** The record that an operation with status `other_record` found, or the list of a step `list`. */
  found(): Buffer {
    return this.#found.shift()!
  }

  /** The error for a row or record that cannot be read. */
  damage(rows: readonly number[]): Error {
    const row = rows.find((each) => this.#damaged.has(each))
    const key = row === undefined ? undefined : this.#keys[row]
    const version = row === undefined ? undefined : this.#damaged.get(row)
    return notDone(version === undefined ? damagedRow(key) : otherVersion(`the row at ${key}`, version, ROW_VERSION))
  }

  /** A row's key without the prefix. */
  nameOf(row: number): string {
    const key = this.#keys[row]!
    return key.slice(key.indexOf('}') + 1)
  }

  isDamaged(row: number): boolean {
    return this.#damaged.has(row)
  }

  /** The cells of rows, one row after the other: pairs `[startedAt, used]`. */
  cellsOf(rows: readonly number[]): Float64Array {
    const { rowCells } = this.layout
    const cells = new Float64Array(rows.length * rowCells)
    for (const [at, row] of rows.entries()) {
      cells.set(this.#cells.subarray(row * rowCells, (row + 1) * rowCells), at * rowCells)
    }
    return cells
  }

  charge(rows: readonly number[], { costs, periods, quotas }: Charge): void {
    const { units, rowCells, size } = this.layout
    this.#instant.moveTo(this.now, periods, rows.length)
    for (let l = 0; l < rows.length; l++) {
      for (let c = 0; c < size; c++) {
        const cost = costs[units[c]!]
        if (cost === 0 || cost === undefined) continue
        const i = rows[l]! * rowCells + 2 * c
        this.#instant.roll(this.#cells, i, l * size + c, quotas.rates)
        add(this.#cells, i, cost)
      }
    }
  }

  /** The part of each cost that fits in all windows. */
  fitting(rows: readonly number[], { costs, periods, quotas }: Charge): number[] {
    const { units, size } = this.layout
    const fitting = [...costs]
    const states = this.view(rows, periods) ?? []
    for (let l = 0; l < rows.length; l++) {
      for (let c = 0; c < size; c++) {
        const at = l * size + c
        const left = quotas.limits[at]! - this.layout.usedAt(states, at, quotas.rates, this.now)
        const unit = units[c]!
        if (unit < fitting.length) fitting[unit] = Math.max(0, Math.min(fitting[unit]!, left))
      }
    }
    return fitting
  }

  /** Replays the writes of a refusal. */
  reanchor(rows: readonly number[], { costs, periods }: Omit<Charge, 'quotas'>): void {
    const { units, rowCells, size, width } = this.layout
    if (!this.#instant.moveTo(this.now, periods, rows.length)) return
    for (let l = 0; l < rows.length; l++) {
      for (let c = 0; c < width; c++) {
        if (!costs[units[c]!]) continue
        reanchor(this.#cells, rows[l]! * rowCells + 2 * c, this.#instant.after[l * size + c]!, this.now)
      }
    }
  }

  /**
   * Refunds a cell. Cells that the policy lacks are ignored.
   *
   * @param cell its number, from 1
   * @param start of the opening that is refunded. Below 0, the cell is closed
   */
  give(row: number, cell: number, start: number, amount: number, closes: boolean): void {
    const { size, rowCells } = this.layout
    if (cell > size) return
    const i = row * rowCells + 2 * (cell - 1)
    if (start >= 0) refund(this.#cells, i, start, amount, closes)
    else if (this.#cells[i + 1] !== CLOSED) close(this.#cells, i)
  }

  /**
   * The states of rows as seen now. Charges appear at the exact start that they went to.
   *
   * @returns `undefined` if the clock is outside the periods
   */
  view(rows: readonly number[], periods: Charge['periods'], costs?: readonly number[]): WindowStates | undefined {
    const { rowCells, size, units } = this.layout
    const cells = this.#cells
    if (!this.#instant.moveTo(this.now, periods, rows.length)) return undefined
    const { after } = this.#instant
    const states: number[] = new Array(rows.length * rowCells).fill(0.5)
    for (let l = 0; l < rows.length; l++) {
      for (let c = 0; c < size; c++) {
        const i = rows[l]! * rowCells + 2 * c
        const to = l * rowCells + 2 * c
        const startedAt = cells[i]!
        const isOpen = cells[i + 1] !== CLOSED && startedAt > after[l * size + c]!
        const isCharged = costs !== undefined && costs[units[c]!]! > 0
        if (isOpen && (isCharged || startedAt - this.now <= MAX_AHEAD_MS)) {
          states[to] = startedAt
          states[to + 1] = cells[i + 1]!
        } else view(cells, i, after[l * size + c]!, this.now, states, to)
      }
    }
    return states
  }

  #readOwn(text: Buffer, from: number, row: number): void {
    const { rowCells, size } = this.layout
    const at = row * rowCells
    // No row, or one that was read from the replies.
    if (text[from] === 0) clearRow(this.#cells, at, size)
    else for (let c = 0; c < size; c++) readCell(text, from + HEAD_BYTES, size, c, this.#cells, at + 2 * c)
  }

  #readOther(bytes: Buffer, book: ListBook, row: number): void {
    const { rowCells, size } = this.layout
    const list = bytes.length > HEAD_BYTES ? book.lists.get(bytes.readUIntLE(0, HEAD_BYTES)) : undefined
    if (list === undefined) {
      this.#damaged.set(row, otherVersionIn(bytes, 0, ROW_VERSION))
      return
    }
    const at = row * rowCells
    for (let c = 0; c < size; c++) [this.#cells[at + 2 * c], this.#cells[at + 2 * c + 1]] = [0, CLOSED]
    for (const [i, c] of list.cells.entries()) {
      if (c <= size) readCell(bytes, HEAD_BYTES, list.cells.length, i, this.#cells, at + 2 * (c - 1))
    }
  }
}
