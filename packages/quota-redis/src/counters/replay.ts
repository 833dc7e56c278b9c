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
  type RowLayout,
  reanchor,
  refund,
  type TakeRequest,
  usedLayers,
  view,
  type WindowStates,
} from '@scoregw/quota/store'
import { damagedRow } from '../connection/errors.ts'
import { type ListBook, ROW_VERSION } from './lists.ts'
import { STATUSES, type Status } from './numbers.ts'
import { CELL_BYTES, HEAD_BYTES, otherVersionIn, readCell } from './row-bytes.ts'

/** The server's reply to a batch: see `lua/batch.lua`. */
export type BatchReply = Buffer | readonly [text: Buffer, answers: readonly Buffer[]]
/** A take, as far as the rows need it. */
export type Charge = Pick<TakeRequest, 'subject' | 'set' | 'costs' | 'periods' | 'quotas'>
/** The limits that are shown. */
type Shown = Pick<TakeRequest, 'periods'> & { readonly layers: readonly number[] }

/** The rows of a batch as they were. The functions that all stores share replay the operations on them. */
export class Replay {
  /** The server's clock, epoch milliseconds. */
  readonly now: number
  /** One per operation; empty if all are admitted takes. */
  readonly statuses: string
  /** The settings in force, if a take of the batch depends on them. */
  readonly settingsRevision: string = ''
  /** The cells of each row. */
  readonly layout: RowLayout
  readonly #places: Layout
  readonly #cells: Float64Array
  readonly #instant: Instant
  readonly #keys: readonly string[]
  /** Records and lists in the replies to operations, in order. */
  readonly #found: Buffer[] = []
  /** Rows that cannot be read, and their version if it is another one. */
  readonly #damaged = new Map<number, number | undefined>()

  /** @param keys of the rows */
  constructor(reply: BatchReply, keys: readonly string[], book: ListBook, places: Layout, instant: Instant) {
    const [text, answers] = Buffer.isBuffer(reply) ? [reply, []] : reply
    const { layout } = book
    this.layout = layout
    this.#places = places
    this.#instant = instant
    this.#keys = keys
    this.#cells = new Float64Array(2 * keys.length * layout.size)
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
    const rowCells = 2 * this.layout.size
    const cells = new Float64Array(rows.length * rowCells)
    for (const [at, row] of rows.entries()) {
      cells.set(this.#cells.subarray(row * rowCells, (row + 1) * rowCells), at * rowCells)
    }
    return cells
  }

  /** The layers of a take's rows, in their order. */
  layersOf(take: Charge): readonly number[] {
    return usedLayers(this.#places, take)
  }

  charge(rows: readonly number[], take: Charge): void {
    const { units, size } = this.layout
    const { costs, periods, quotas } = take
    this.#instant.moveTo(this.now, periods)
    for (const [l, layer] of this.layersOf(take).entries()) {
      const { first } = this.#places.rows[layer]!
      for (let c = 0; c < size; c++) {
        const cost = costs[units[c]!]
        if (cost === 0 || cost === undefined) continue
        const i = 2 * (rows[l]! * size + c)
        this.#instant.roll(this.#cells, i, first + c, quotas.rates)
        add(this.#cells, i, cost)
      }
    }
  }

  /** The part of each cost that fits in all windows. */
  fitting(rows: readonly number[], take: Charge): number[] {
    const { costs, periods, quotas } = take
    const fitting = [...costs]
    const layers = this.layersOf(take)
    const states = this.view(rows, { layers, periods }) ?? []
    for (const at of layers.flatMap((layer) => this.#places.counted[take.set]![layer]!)) {
      const left = quotas.limits[at]! - this.#places.usedAt(states, at, quotas.rates, this.now)
      const unit = this.#places.units[at]!
      if (unit < fitting.length) fitting[unit] = Math.max(0, Math.min(fitting[unit]!, left))
    }
    return fitting
  }

  /** Replays the writes of a refusal. */
  reanchor(rows: readonly number[], take: Charge): void {
    const { units, size, width } = this.layout
    this.#instant.moveTo(this.now, take.periods)
    for (const [l, layer] of this.layersOf(take).entries()) {
      const { first } = this.#places.rows[layer]!
      for (let c = 0; c < width; c++) {
        if (!take.costs[units[c]!]) continue
        reanchor(this.#cells, 2 * (rows[l]! * size + c), this.#instant.after[first + c]!, this.now)
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
    const { size } = this.layout
    if (cell > size) return
    const i = 2 * (row * size + cell - 1)
    if (start >= 0) refund(this.#cells, i, start, amount, closes)
    else if (this.#cells[i + 1] !== CLOSED) close(this.#cells, i)
  }

  /**
   * The states of rows as seen now. Charges appear at the exact start that they went to.
   *
   * @param shown the layers of the rows, and the periods
   * @returns `undefined` if the clock is outside the periods
   */
  view(rows: readonly number[], { layers, periods }: Shown, costs?: readonly number[]): WindowStates | undefined {
    const { size, units } = this.layout
    const cells = this.#cells
    const { after } = this.#instant
    if (!this.#instant.moveTo(this.now, periods) && this.#isOutside(layers)) return undefined
    const states = this.#places.blank.slice()
    for (const [l, layer] of layers.entries()) {
      const { first } = this.#places.rows[layer]!
      for (let c = 0; c < size; c++) {
        const i = 2 * (rows[l]! * size + c)
        const at = first + c
        const startedAt = cells[i]!
        const isOpen = cells[i + 1] !== CLOSED && startedAt > after[at]!
        const isCharged = costs !== undefined && costs[units[c]!]! > 0
        if (isOpen && (isCharged || startedAt - this.now <= MAX_AHEAD_MS)) {
          states[2 * at] = startedAt
          states[2 * at + 1] = cells[i + 1]!
        } else view(cells, i, after[at]!, this.now, states, 2 * at)
      }
    }
    return states
  }

  /** Whether the clock is outside the periods of some of these layers. */
  #isOutside(layers: readonly number[]): boolean {
    const { after } = this.#instant
    return layers.some((layer) => {
      const { first, calendars } = this.#places.rows[layer]!
      return calendars.some((cell) => Number.isNaN(after[first + cell]))
    })
  }

  #readOwn(text: Buffer, from: number, row: number): void {
    const { size } = this.layout
    const at = 2 * row * size
    // No row, or one that was read from the replies.
    if (text[from] === 0) clearRow(this.#cells, at, size)
    else for (let c = 0; c < size; c++) readCell(text, from + HEAD_BYTES, size, c, this.#cells, at + 2 * c)
  }

  #readOther(bytes: Buffer, book: ListBook, row: number): void {
    const { size } = this.layout
    const list = bytes.length > HEAD_BYTES ? book.lists.get(bytes.readUIntLE(0, HEAD_BYTES)) : undefined
    if (list === undefined) {
      this.#damaged.set(row, otherVersionIn(bytes, 0, ROW_VERSION))
      return
    }
    const at = 2 * row * size
    for (let c = 0; c < size; c++) [this.#cells[at + 2 * c], this.#cells[at + 2 * c + 1]] = [0, CLOSED]
    for (const [i, c] of list.cells.entries()) {
      if (c <= size) readCell(bytes, HEAD_BYTES, list.cells.length, i, this.#cells, at + 2 * (c - 1))
    }
  }
}
