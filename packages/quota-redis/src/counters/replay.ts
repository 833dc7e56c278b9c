import { QuotaError } from '@scoregw/quota'
import {
  add,
  CLOSED,
  clearRow,
  close,
  type Instant,
  type Layout,
  MAX_AHEAD_MS,
  MAX_USED,
  otherVersion,
  reanchor,
  refund,
  usedLayers,
  view,
} from '@scoregw/quota/internal'
import { notDone, type TakeRequest, type WindowStates } from '@scoregw/quota/store'
import { damagedRow } from '../connection/errors.ts'
import { type ListBook, type ListBooks, ROW_VERSION } from './lists.ts'
import { STATUSES, type Status } from './numbers.ts'
import { CELL_BYTES, HEAD_BYTES, otherVersionIn, readCell } from './row-bytes.ts'

const NO_ANSWERS: readonly Buffer[] = []

/** The server's reply to a batch: see `lua/batch.lua`. */
export type BatchReply = Buffer | readonly [text: Buffer, answers: readonly Buffer[]]
/** A take, as far as the rows need it. */
export type Charge = Pick<TakeRequest, 'subject' | 'set' | 'costs' | 'periods' | 'quotas'>
/** The limits that are shown. */
type Shown = Pick<TakeRequest, 'set' | 'periods'> & { readonly layers: readonly number[] }

/** A row of a batch. */
export interface ReplayedRow {
  readonly key: string
  readonly book: ListBook
}

/** The rows of a batch as they were. The functions that all stores share replay the operations on them. */
export class Replay {
  /** The server's clock, epoch milliseconds. */
  readonly now: number
  /** One per operation; empty if all are admitted takes. */
  readonly statuses: string
  /** The settings in force, if a take of the batch depends on them. */
  readonly settingsRevision: string = ''
  readonly #layout: Layout
  readonly #cells: Float64Array
  /** Where the cells of each row begin. */
  readonly #starts: number[] = []
  readonly #instant: Instant
  readonly #rows: readonly ReplayedRow[]
  /** Records and lists in the replies to operations, in order. */
  readonly #found: Buffer[] = []
  /** Rows that cannot be read, and their version if it is another one. */
  #damaged: Map<number, number | undefined> | undefined

  constructor(reply: BatchReply, rows: readonly ReplayedRow[], books: ListBooks, layout: Layout, instant: Instant) {
    const [text, answers] = Buffer.isBuffer(reply) ? [reply, NO_ANSWERS] : reply
    this.#layout = layout
    this.#instant = instant
    this.#rows = rows
    let size = 0
    for (const { book } of rows) {
      this.#starts.push(size)
      size += 2 * book.layout.size
    }
    this.#cells = new Float64Array(size)
    let from = 0
    for (let row = 0; row < rows.length; row++) from = this.#readOwn(text, from, row)
    this.now = text.readDoubleLE(from)
    this.statuses = text.length === from + 8 ? '' : text.toString('latin1', from + 8)
    for (let i = 0; i < answers.length; i += 2) {
      const [name, value] = [answers[i]!, answers[i + 1]!]
      const what = name.toString('latin1')
      if (what === 'record' || what === 'list') this.#found.push(value)
      else if (what === 'revision') this.settingsRevision = value.toString('latin1')
      else if (what.startsWith('row ')) this.#readOther(value, Number(what.slice(4)) - 1)
      else books.learn(value.toString(), name.readUInt32LE(1))
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
    const row = rows.find((each) => this.isDamaged(each))
    const key = row === undefined ? undefined : this.#rows[row]!.key
    const version = row === undefined ? undefined : this.#damaged?.get(row)
    return notDone(version === undefined ? damagedRow(key) : otherVersion(`the row at ${key}`, version, ROW_VERSION))
  }

  /** Whether every cell has a value that a script writes. */
  get isReadable(): boolean {
    const cells = this.#cells
    for (let i = 1; i < cells.length; i += 2) if (cells[i]! < CLOSED || cells[i]! > MAX_USED) return false
    return true
  }

  /** A row's key without the prefix. */
  nameOf(row: number): string {
    const { key } = this.#rows[row]!
    return key.slice(key.indexOf('}') + 1)
  }

  isDamaged(row: number): boolean {
    return this.#damaged?.has(row) === true
  }

  /** The cells of rows, one row after the other: pairs `[startedAt, used]`. */
  cellsOf(rows: readonly number[]): Float64Array {
    return Float64Array.from(
      rows.flatMap((row) => {
        const start = this.#starts[row]!
        return [...this.#cells.subarray(start, start + 2 * this.#rows[row]!.book.layout.size)]
      }),
    )
  }

  /** The layers of a take's rows, in their order. */
  layersOf(take: Charge): readonly number[] {
    return usedLayers(this.#layout, take)
  }

  charge(rows: readonly number[], take: Charge): void {
    const { periods, quotas } = take
    this.#instant.moveTo(this.now, periods)
    this.#eachCharged(rows, take, (i, at, cost) => {
      this.#instant.roll(this.#cells, i, at, quotas.rates)
      add(this.#cells, i, cost)
    })
  }

  /** The part of each cost that fits in all windows. */
  fitting(rows: readonly number[], take: Charge): number[] {
    const { set, costs, periods, quotas } = take
    const { counted, units } = this.#layout
    const fitting = [...costs]
    const layers = this.layersOf(take)
    const states = this.view(rows, { set, layers, periods }) ?? []
    for (const at of layers.flatMap((layer) => counted[set]![layer]!)) {
      const left = quotas.limits[at]! - this.#layout.usedAt(states, at, quotas.rates, this.now)
      const unit = units[at]!
      if (unit < fitting.length) fitting[unit] = Math.max(0, Math.min(fitting[unit]!, left))
    }
    return fitting
  }

  /** Replays the writes of a refusal. */
  reanchor(rows: readonly number[], take: Charge): void {
    this.#instant.moveTo(this.now, take.periods)
    this.#eachCharged(rows, take, (i, at) => reanchor(this.#cells, i, this.#instant.after[at]!, this.now))
  }

  /**
   * Refunds a cell. Cells that the policy lacks are ignored.
   *
   * @param cell its number, from 1
   * @param start of the opening that is refunded. Below 0, the cell is closed
   */
  give(row: number, cell: number, start: number, amount: number, closes: boolean): void {
    if (cell > this.#rows[row]!.book.layout.size) return
    const i = this.#starts[row]! + 2 * (cell - 1)
    if (start >= 0) refund(this.#cells, i, start, amount, closes)
    else if (this.#cells[i + 1] !== CLOSED) close(this.#cells, i)
  }

  /**
   * The states of rows as seen now. Charges appear at the exact start that they went to.
   *
   * @param shown the layers of the rows, and the periods
   * @returns `undefined` if the clock is outside the periods
   */
  view(rows: readonly number[], { set, layers, periods }: Shown, costs?: readonly number[]): WindowStates | undefined {
    const { units, counted } = this.#layout
    const cells = this.#cells
    const { after } = this.#instant
    if (!this.#instant.moveTo(this.now, periods) && this.#isOutside(set, layers)) return undefined
    const states = this.#layout.blank.slice()
    for (let l = 0; l < layers.length; l++) {
      const layer = layers[l]!
      const start = this.#starts[rows[l]!]! - 2 * this.#layout.rows[layer]!.first
      for (const at of counted[set]![layer]!) {
        const i = start + 2 * at
        const startedAt = cells[i]!
        const isOpen = cells[i + 1] !== CLOSED && startedAt > after[at]!
        const isCharged = costs !== undefined && costs[units[at]!]! > 0
        if (isOpen && (isCharged || startedAt - this.now <= MAX_AHEAD_MS)) {
          states[2 * at] = startedAt
          states[2 * at + 1] = cells[i + 1]!
        } else view(cells, i, after[at]!, this.now, states, 2 * at)
      }
    }
    return states
  }

  /** Calls `visit` for each cell that a take charges: the index of its pair, its position, and the cost. */
  #eachCharged(rows: readonly number[], take: Charge, visit: (i: number, at: number, cost: number) => void): void {
    const { units, counted } = this.#layout
    const layers = this.layersOf(take)
    for (let l = 0; l < layers.length; l++) {
      const layer = layers[l]!
      const start = this.#starts[rows[l]!]! - 2 * this.#layout.rows[layer]!.first
      for (const at of counted[take.set]![layer]!) {
        const cost = take.costs[units[at]!] ?? 0
        if (cost > 0) visit(start + 2 * at, at, cost)
      }
    }
  }

  /** Whether the clock is outside the periods of some limits that count. */
  #isOutside(set: number, layers: readonly number[]): boolean {
    const { after } = this.#instant
    return layers.some((layer) => this.#layout.counted[set]![layer]!.some((at) => Number.isNaN(after[at])))
  }

  /** @returns where the next row begins */
  #readOwn(text: Buffer, from: number, row: number): number {
    const { size } = this.#rows[row]!.book.layout
    const at = this.#starts[row]!
    // No row, or one that was read from the replies.
    if (text[from] === 0) {
      clearRow(this.#cells, at, size)
      return from + 1
    }
    for (let c = 0; c < size; c++) readCell(text, from + HEAD_BYTES, size, c, this.#cells, at + 2 * c)
    return from + HEAD_BYTES + CELL_BYTES * size
  }

  #readOther(bytes: Buffer, row: number): void {
    const { book } = this.#rows[row]!
    const list = bytes.length > HEAD_BYTES ? book.lists.get(bytes.readUIntLE(0, HEAD_BYTES)) : undefined
    if (list === undefined) {
      this.#damaged ??= new Map()
      this.#damaged.set(row, otherVersionIn(bytes, 0, ROW_VERSION))
      return
    }
    const at = this.#starts[row]!
    const { size } = book.layout
    for (let c = 0; c < size; c++) [this.#cells[at + 2 * c], this.#cells[at + 2 * c + 1]] = [0, CLOSED]
    for (const [i, c] of list.cells.entries()) {
      if (c <= size) readCell(bytes, HEAD_BYTES, list.cells.length, i, this.#cells, at + 2 * (c - 1))
    }
  }
}
