import { QuotaError } from '@scoregw/quota'
import {
  add,
  CLOSED,
  clearRow,
  close,
  countIn,
  type Instant,
  type Layout,
  MAX_USED,
  NOT_OPEN,
  nth,
  otherVersion,
  reanchor,
  refund,
  startIn,
  view,
} from '@scoregw/quota/internal'
import { notDone, type TakeRequest, type WindowStates } from '@scoregw/quota/store'
import { damagedRow } from '../connection/errors.ts'
import type { Keys } from '../keys/keys.ts'
import { STATUSES, type Status } from './numbers.ts'
import {
  CELL_BYTES,
  HEAD_BYTES,
  type ListBooks,
  otherVersionIn,
  type PlacedRefund,
  ROW_VERSION,
  type Row,
  startOf,
  usedOf,
} from './rows.ts'

const NO_ANSWERS: readonly Buffer[] = []

/** The server's reply to a batch: see `lua/batch.lua`. */
export type BatchReply = Buffer | readonly [text: Buffer, answers: readonly Buffer[]]
/** A take, as far as the rows need it. */
type RowsTake = Pick<TakeRequest, 'subject' | 'set' | 'costs' | 'periods' | 'quotas'>
/** The limits that are shown. */
type Shown = Pick<TakeRequest, 'set' | 'periods'>

/** What all calls for one policy's counters have in common. */
export interface CallBasis {
  readonly keys: Keys
  readonly books: ListBooks
  readonly instant: Instant
  /** Replaces the server's clock in tests; `undefined`: the server's own. */
  readonly testNow: () => number | undefined
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
  readonly #instant: Instant
  /** Records and lists in the replies to operations, in order. */
  readonly #found: Buffer[] = []
  /** Rows that cannot be read, and their version if it is another one. */
  #damaged: Map<Row, number | undefined> | undefined

  /** @param rows of the call, in order */
  constructor(reply: BatchReply, rows: readonly Row[], { keys, books, instant }: CallBasis) {
    const [text, answers] = Buffer.isBuffer(reply) ? [reply, NO_ANSWERS] : reply
    this.#layout = keys.layout
    this.#instant = instant
    const last = rows.at(-1)
    this.#cells = new Float64Array(last === undefined ? 0 : last.start + 2 * last.book.layout.size)
    let from = 0
    for (const row of rows) from = this.#readOwn(text, from, row)
    this.now = text.readDoubleLE(from)
    this.statuses = text.length === from + 8 ? '' : text.toString('latin1', from + 8)
    for (let i = 0; i < answers.length; i += 2) {
      const [name, value] = [nth(answers, i), nth(answers, i + 1)]
      const what = name.toString('latin1')
      if (what === 'record' || what === 'list') this.#found.push(value)
      else if (what === 'revision') this.settingsRevision = value.toString('latin1')
      else if (what.startsWith('row ')) this.#readOther(value, nth(rows, Number(what.slice(4)) - 1))
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
    const found = this.#found.shift()
    if (found === undefined) throw new QuotaError('store_error', 'the script answered without a record or list')
    return found
  }

  /** The error for a row or record that cannot be read. */
  damage(rows: readonly Row[]): Error {
    const row = rows.find((each) => this.isDamaged(each))
    const key = row?.key
    const version = row && this.#damaged?.get(row)
    return notDone(version === undefined ? damagedRow(key) : otherVersion(`the row at ${key}`, version, ROW_VERSION))
  }

  /** Whether every cell has a value that a script writes. */
  get isReadable(): boolean {
    const cells = this.#cells
    for (let i = 0; i < cells.length; i += 2) {
      const used = countIn(cells, i)
      if (used < CLOSED || used > MAX_USED) return false
    }
    return true
  }

  isDamaged(row: Row): boolean {
    return this.#damaged?.has(row) === true
  }

  /** The cells of rows, one row after the other: pairs `[startedAt, used]`. */
  cellsOf(rows: readonly Row[]): Float64Array {
    return Float64Array.from(
      rows.flatMap(({ start, book }) => [...this.#cells.subarray(start, start + 2 * book.layout.size)]),
    )
  }

  charge(rows: readonly Row[], take: RowsTake): void {
    const { periods, quotas } = take
    this.#instant.moveTo(this.now, periods)
    this.#eachCharged(rows, take, (i, at, cost) => {
      this.#instant.roll(this.#cells, i, at, quotas.rates)
      add(this.#cells, i, cost)
    })
  }

  /** The part of each cost that fits in all windows. */
  fitting(rows: readonly Row[], take: RowsTake): number[] {
    const { set, costs, quotas } = take
    const layout = this.#layout
    const states = this.view(rows, take) ?? []
    const counted = rows.flatMap(({ layer }) => layout.countedIn(set, layer))
    return costs.map((cost, unit) => {
      const ofUnit = counted.filter((at) => layout.cellAt(at).unit === unit)
      const left = ofUnit.map((at) => nth(quotas.limits, at) - layout.usedAt(states, at, quotas.rates, this.now))
      return left.length === 0 ? cost : Math.max(0, Math.min(cost, ...left))
    })
  }

  /** Replays the writes of a refusal. */
  reanchor(rows: readonly Row[], take: RowsTake): void {
    this.#instant.moveTo(this.now, take.periods)
    this.#eachCharged(rows, take, (i, at) => reanchor(this.#cells, i, this.#instant.afterAt(at), this.now))
  }

  /** Refunds a cell. Cells that the policy lacks are ignored. */
  give({ row, cell, startedAt, amount, closes }: PlacedRefund): void {
    if (cell > row.book.layout.size) return
    const i = row.start + 2 * (cell - 1)
    if (startedAt >= 0) refund(this.#cells, i, startedAt, amount, closes)
    else close(this.#cells, i)
  }

  /**
   * The states of rows as seen now. Charges appear at the exact start that they went to.
   *
   * @param costs what was charged
   * @returns `undefined` if the clock is outside the periods
   */
  view(rows: readonly Row[], { set, periods }: Shown, costs?: readonly number[]): WindowStates | undefined {
    const layout = this.#layout
    const cells = this.#cells
    const instant = this.#instant
    if (!instant.moveTo(this.now, periods) && this.#isOutside(rows, set)) return undefined
    const states = layout.blank.slice()
    for (const { start, first, layer } of rows) {
      for (const at of layout.countedIn(set, layer)) {
        const i = start + 2 * (at - first)
        view(cells, i, instant.afterAt(at), this.now, states, 2 * at)
        const isCharged = costs !== undefined && (costs[layout.cellAt(at).unit] ?? 0) > 0
        if (isCharged && states[2 * at] !== NOT_OPEN) states[2 * at] = startIn(cells, i)
      }
    }
    return states
  }

  /** Calls `visit` for each cell that a take charges: the index of its pair, its position, and the cost. */
  #eachCharged(rows: readonly Row[], { set, costs }: RowsTake, visit: (i: number, at: number, cost: number) => void) {
    const layout = this.#layout
    for (const { start, first, layer } of rows) {
      for (const at of layout.countedIn(set, layer)) {
        const cost = costs[layout.cellAt(at).unit] ?? 0
        if (cost > 0) visit(start + 2 * (at - first), at, cost)
      }
    }
  }

  /** Whether the clock is outside the periods of some limits that count. */
  #isOutside(rows: readonly Row[], set: number): boolean {
    const isOutside = (at: number): boolean => Number.isNaN(this.#instant.afterAt(at))
    return rows.some(({ layer }) => this.#layout.countedIn(set, layer).some(isOutside))
  }

  /** @returns where the next row begins */
  #readOwn(text: Buffer, from: number, { start, book }: Row): number {
    const { size } = book.layout
    // No row, or one that was read from the replies.
    if (text[from] === 0) {
      clearRow(this.#cells, start, size)
      return from + 1
    }
    const stored = { bytes: text, from: from + HEAD_BYTES, size }
    for (let c = 0; c < size; c++) {
      this.#cells[start + 2 * c] = startOf(stored, c)
      this.#cells[start + 2 * c + 1] = usedOf(stored, c)
    }
    return from + HEAD_BYTES + CELL_BYTES * size
  }

  #readOther(bytes: Buffer, row: Row): void {
    const { book, start } = row
    const list = bytes.length > HEAD_BYTES ? book.lists.get(bytes.readUIntLE(0, HEAD_BYTES)) : undefined
    if (list === undefined) {
      this.#damaged ??= new Map()
      this.#damaged.set(row, otherVersionIn(bytes, 0, ROW_VERSION))
      return
    }
    const { size } = book.layout
    const stored = { bytes, from: HEAD_BYTES, size: list.cells.length }
    for (let c = 0; c < size; c++) {
      const at = list.cells.indexOf(c + 1)
      this.#cells[start + 2 * c] = at === -1 ? 0 : startOf(stored, at)
      this.#cells[start + 2 * c + 1] = at === -1 ? CLOSED : usedOf(stored, at)
    }
  }
}
