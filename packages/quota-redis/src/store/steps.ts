import type {
  ReadReply,
  ReadRequest,
  ResetRequest,
  SettleRequest,
  TakeOutcome,
  TakeReply,
  TakeRequest,
  WindowStates,
} from '@scoregw/quota'
import { charge, close, reanchor, refund, viewRow } from '@scoregw/quota/rows'
import { statesOfRecord } from './packing.ts'

/** The rows of a batch while its operations are replayed, in order, on this side of the wire. */
export interface Replay {
  readonly now: number
  readonly lengthsMs: readonly number[]
  readonly cells: Float64Array
  /** States kept with ids, for the operations answered `m`. */
  readonly stored: Iterator<Buffer>
}

/** One operation of a batch. It is answered with its letter (see `script/decide.lua`), or fails. */
export interface Step {
  /** Whether the script answers it with a letter; looks are answered from the rows alone. */
  readonly lettered: boolean
  /** Whether it may be sent again when nobody knows if it was carried out. */
  readonly repeatable: boolean
  answer(replay: Replay, letter: string): void
  fail(error: unknown): void
}

interface Waiter<T> {
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}

const OUTCOMES: Readonly<Record<string, TakeOutcome>> = {
  a: 'admitted',
  r: 'refused',
  m: 'admitted',
  d: 'duplicate',
  x: 'cancelled',
  c: 'conflict',
  s: 'stale',
}

/** A decision. Where its caller was already told that the store did not answer, a late admission is given back. */
export class TakeStep implements Step {
  readonly lettered = true
  readonly repeatable: boolean
  readonly request: TakeRequest
  /** Offsets of its rows in the batch's cells, one a layer. */
  rows: readonly number[] = []
  readonly #waiter: Waiter<TakeReply>
  readonly #giveBack: (request: SettleRequest) => void
  #failed = false

  constructor(request: TakeRequest, waiter: Waiter<TakeReply>, giveBack: (request: SettleRequest) => void) {
    this.request = request
    this.repeatable = request.id !== undefined
    this.#waiter = waiter
    this.#giveBack = giveBack
  }

  answer(replay: Replay, letter: string): void {
    const outcome = OUTCOMES[letter]!
    const states = this.#states(replay, letter)
    if (!this.#failed) this.#waiter.resolve({ outcome, now: replay.now, states })
    else if (outcome === 'admitted') this.#undo(states)
  }

  fail(error: unknown): void {
    this.#failed = true
    this.#waiter.reject(error)
  }

  #states(replay: Replay, letter: string): WindowStates {
    if (letter === 'm') return statesOfRecord(replay.stored.next().value as Buffer)
    const { now, lengthsMs, cells } = replay
    const { cost } = this.request
    if (letter === 'a') {
      for (const at of this.rows) charge(cells, at, lengthsMs, cost, now)
      return statesOfCells(replay, this.rows)
    }
    if (letter !== 'r') return []
    for (const at of this.rows) reanchor(cells, at, lengthsMs.length, now)
    return view(replay, this.rows)
  }

  #undo(states: WindowStates): void {
    const { subject, category, quotas, cost, id } = this.request
    this.#giveBack({ subject, category, layers: quotas.layers, states, giveBack: cost, as: 'cancelled', id })
  }
}

/** A look at the rows, as they are between the operations before and after it. */
export class ReadStep implements Step {
  readonly lettered = false
  readonly repeatable = true
  readonly request: ReadRequest
  /** Offsets of the rows, for each category in turn. */
  rows: readonly (readonly number[])[] = []
  readonly #waiter: Waiter<ReadReply>

  constructor(request: ReadRequest, waiter: Waiter<ReadReply>) {
    this.request = request
    this.#waiter = waiter
  }

  answer(replay: Replay): void {
    this.#waiter.resolve({ now: replay.now, states: this.rows.map((rows) => view(replay, rows)) })
  }

  fail(error: unknown): void {
    this.#waiter.reject(error)
  }
}

/** The end of a reservation. */
export class SettleStep implements Step {
  readonly lettered = true
  readonly repeatable: boolean
  readonly request: SettleRequest
  rows: readonly number[] = []
  readonly #waiter: Waiter<boolean>

  constructor(request: SettleRequest, waiter: Waiter<boolean>) {
    this.request = request
    this.repeatable = request.id !== undefined
    this.#waiter = waiter
  }

  /** Starts of the windows that were charged, in the order of the states; -2, which none has, where there is no state. */
  startedAts(windows: number): readonly number[] {
    const { layers, states } = this.request
    return Array.from({ length: layers.length * windows }, (_, index) => states[2 * index] ?? -2)
  }

  answer({ cells, lengthsMs }: Replay, letter: string): void {
    const { rows, request } = this
    const windows = lengthsMs.length
    if (letter === 'y') {
      const startedAts = this.startedAts(windows)
      for (const [l, at] of rows.entries()) refund(cells, at, windows, startedAts, l * windows, request.giveBack)
    }
    this.#waiter.resolve(letter === 'y')
  }

  fail(error: unknown): void {
    this.#waiter.reject(error)
  }
}

/** An admission taken back, windows that it opened and its id included. */
export class UndoStep implements Step {
  readonly lettered = true
  readonly repeatable = false
  readonly request: SettleRequest
  /** From this time on windows were opened by the admission itself. */
  readonly openedAt: number
  rows: readonly number[] = []
  readonly #waiter: Waiter<void>

  constructor(request: SettleRequest, openedAt: number, waiter: Waiter<void>) {
    this.request = request
    this.openedAt = openedAt
    this.#waiter = waiter
  }

  answer({ cells, lengthsMs }: Replay, letter: string): void {
    const { states, giveBack } = this.request
    const windows = lengthsMs.length
    for (const [l, at] of letter === 'y' ? this.rows.entries() : []) {
      for (let w = 0; w < windows; w++) {
        const i = at + 2 * w
        const used = cells[i + 1]!
        if (used === -1 || cells[i] !== states[2 * (l * windows + w)]) continue
        cells[i + 1] = used <= giveBack && cells[i]! >= this.openedAt ? -1 : Math.max(0, used - giveBack)
      }
    }
    this.#waiter.resolve()
  }

  fail(error: unknown): void {
    this.#waiter.reject(error)
  }
}

/** Windows closed by an administrator; closing twice does no harm but to what was charged in between. */
export class ResetStep implements Step {
  readonly lettered = true
  readonly repeatable = false
  readonly request: ResetRequest
  rows: readonly number[] = []
  readonly #waiter: Waiter<void>

  constructor(request: ResetRequest, waiter: Waiter<void>) {
    this.request = request
    this.#waiter = waiter
  }

  answer({ cells, lengthsMs }: Replay): void {
    for (const at of this.rows) close(cells, at, lengthsMs.length)
    this.#waiter.resolve()
  }

  fail(error: unknown): void {
    this.#waiter.reject(error)
  }
}

/** The states of rows all whose windows are open: the cells are the states. */
function statesOfCells({ cells, lengthsMs }: Replay, rows: readonly number[]): WindowStates {
  const width = 2 * lengthsMs.length
  const states: number[] = new Array(rows.length * width).fill(0.5)
  for (let l = 0; l < rows.length; l++) {
    const at = rows[l]!
    for (let i = 0; i < width; i++) states[l * width + i] = cells[at + i]!
  }
  return states
}

function view({ cells, lengthsMs, now }: Replay, rows: readonly number[]): WindowStates {
  const width = 2 * lengthsMs.length
  const states: number[] = new Array(rows.length * width).fill(0.5)
  for (let l = 0; l < rows.length; l++) viewRow(cells, rows[l]!, lengthsMs, now, states, l * width)
  return states
}
