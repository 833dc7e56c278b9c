import {
  add,
  CLOSED,
  type Instant,
  type Layout,
  MAX_AHEAD_MS,
  notDone,
  reanchor,
  roll,
  type TakeRequest,
  view,
  type WindowStates,
} from '@scoregw/quota/store'
import { damagedRow } from '../../line/errors.ts'
import { readRow, rowBytes } from './row-bytes.ts'

/** The reply to a batch, see `lua/write.lua`: where there is nothing else to say, one text. */
export type LeaseBatchReply = Buffer | readonly [text: Buffer, answers: readonly Buffer[], revision: Buffer]

/** Bytes of the time in a reply. */
const NOW_BYTES = 8

/** What rows of a request are about. */
type Rows = readonly number[]
type Charge = Pick<TakeRequest, 'costs' | 'periods'>

/**
 * The rows of a batch while its operations are replayed, in order: the script answers with the rows as they were and a letter
 * for each operation, and the states that belong to each answer come from the functions every store shares. That leaves the
 * server to decide and to write, and nothing else.
 */
export class LeaseReplay {
  /** The server's clock, epoch milliseconds. */
  readonly now: number
  /** One letter an operation; empty: all are admitted takes. */
  readonly letters: string
  /** Revision of the settings that the store knows, if it was looked at. */
  readonly settingsRevision: string
  readonly layout: Layout
  readonly #cells: Float64Array
  readonly #instant: Instant
  readonly #answers: Iterator<Buffer>
  readonly #keys: () => readonly string[]
  readonly #damaged = new Set<number>()

  /** @param keys of the rows, by their places */
  constructor(reply: LeaseBatchReply, keys: () => readonly string[], count: number, layout: Layout, instant: Instant) {
    const [text, answers, revision] = Buffer.isBuffer(reply) ? [reply, [], undefined] : reply
    const each = rowBytes(layout)
    this.layout = layout
    this.#instant = instant
    this.#keys = keys
    this.#answers = answers.values()
    this.#cells = new Float64Array(count * layout.rowCells)
    this.settingsRevision = revision?.toString('latin1') ?? ''
    for (let row = 0; row < count; row++) this.#read(text, row * each, row)
    this.now = text.readDoubleLE(count * each)
    this.letters = text.toString('latin1', count * each + NOW_BYTES)
  }

  /** What the next operation was answered beside its letter. */
  answer(): Buffer {
    return this.#answers.next().value as Buffer
  }

  /** A copy of the cells of rows as they are, one behind the other. */
  cellsOf(rows: Rows): Float64Array {
    const { rowCells } = this.layout
    const cells = new Float64Array(rows.length * rowCells)
    for (const [l, row] of rows.entries()) {
      cells.set(this.#cells.subarray(row * rowCells, (row + 1) * rowCells), l * rowCells)
    }
    return cells
  }

  /** Rows as they are after an operation; nothing where it was answered without. */
  put(rows: Rows, bytes: Buffer): void {
    if (bytes.length === 0) return
    const each = rowBytes(this.layout)
    for (let l = 0; l < rows.length; l++) this.#read(bytes, l * each, rows[l]!)
  }

  /** Why an operation on rows was answered that something cannot be read. */
  damage(rows: Rows): Error {
    const row = rows.find((each) => this.#damaged.has(each))
    return notDone(damagedRow(row === undefined ? undefined : this.#keys()[row]))
  }

  /** Charges rows, one a layer, as an admitted take did. */
  charge(rows: Rows, { costs, periods }: Charge): void {
    const { units, rowCells, size } = this.layout
    const { now } = this
    const cells = this.#cells
    this.#instant.moveTo(now, periods, rows.length)
    const { after, opensAt } = this.#instant
    for (let l = 0; l < rows.length; l++) {
      const from = rows[l]! * rowCells
      for (let c = 0; c < size; c++) {
        const cost = costs[units[c]!]!
        if (cost === 0) continue
        const i = from + 2 * c
        const at = l * size + c
        const startedAt = cells[i]!
        const isUsual = cells[i + 1] !== CLOSED && startedAt > after[at]! && startedAt - now <= MAX_AHEAD_MS
        if (!isUsual) roll(cells, i, after[at]!, opensAt[at]!, now)
        add(cells, i, cost)
      }
    }
  }

  /** Moves what starts too far ahead, as a take does that was not admitted. */
  reanchor(rows: Rows, { costs, periods }: Charge): void {
    const { units, rowCells, size } = this.layout
    if (!this.#instant.moveTo(this.now, periods, rows.length)) return
    for (let l = 0; l < rows.length; l++) {
      for (let c = 0; c < size; c++) {
        if (costs[units[c]!] === 0) continue
        reanchor(this.#cells, rows[l]! * rowCells + 2 * c, this.#instant.after[l * size + c]!, this.now)
      }
    }
  }

  /**
   * The states of rows, one a layer, as they are; `undefined`: the clock is outside of the periods.
   *
   * @param costs of what was charged just now: it is shown at the very start that it went to
   */
  view(
    rows: Rows,
    periods: readonly number[] | undefined,
    costs: readonly number[] | undefined = undefined,
  ): WindowStates | undefined {
    const { rowCells, size, units } = this.layout
    const { now } = this
    const cells = this.#cells
    if (!this.#instant.moveTo(now, periods, rows.length)) return undefined
    const { after } = this.#instant
    const states: number[] = new Array(rows.length * rowCells).fill(0.5)
    for (let l = 0; l < rows.length; l++) {
      for (let c = 0; c < size; c++) {
        const i = rows[l]! * rowCells + 2 * c
        const to = l * rowCells + 2 * c
        const startedAt = cells[i]!
        const isOpen = cells[i + 1] !== CLOSED && startedAt > after[l * size + c]!
        const isCharged = costs !== undefined && costs[units[c]!]! > 0
        if (isOpen && (isCharged || startedAt - now <= MAX_AHEAD_MS))
          [states[to], states[to + 1]] = [startedAt, cells[i + 1]!]
        else view(cells, i, after[l * size + c]!, now, states, to)
      }
    }
    return states
  }

  #read(bytes: Buffer, from: number, row: number): void {
    if (readRow(bytes, from, this.layout, this.#cells, row * this.layout.rowCells)) {
      if (this.#damaged.size > 0) this.#damaged.delete(row)
    } else {
      this.#damaged.add(row)
    }
  }
}
