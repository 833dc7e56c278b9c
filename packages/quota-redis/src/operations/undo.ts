import { type SettleRequest, undo } from '../one-unit.ts'
import { CODES, DAMAGE } from './codes.ts'
import type { Call, Operation, Replay, Waiter } from './operation.ts'
import { startedAts } from './settle.ts'

/** An admission taken back, windows that it opened and its id included. */
export class UndoOperation implements Operation {
  readonly repeatable = false
  readonly #request: SettleRequest
  /** When it was admitted: windows that start no earlier were opened by it. */
  readonly #takenAt: number
  readonly #waiter: Waiter<void>
  #rows: readonly number[] = []

  constructor(request: SettleRequest, takenAt: number, waiter: Waiter<void>) {
    this.#request = request
    this.#takenAt = takenAt
    this.#waiter = waiter
  }

  encode(call: Call): void {
    const { subject, category, layers, giveBack, id } = this.#request
    call.code(id === undefined ? CODES.UNDO : CODES.UNDO_ID)
    this.#rows = call.rows(layers, [category], subject)
    if (id !== undefined) {
      call.place(call.record(category, subject, id.id))
      call.words(id.nonce)
    }
    call.words(...startedAts(this.#request, call.layout), giveBack, this.#takenAt)
  }

  answer(replay: Replay, letter: string): void {
    if (letter === DAMAGE) {
      this.fail(replay.damage(this.#rows))
      return
    }
    const { cells, layout } = replay
    const starts = startedAts(this.#request, layout)
    for (const [l, at] of letter === 'y' ? this.#rows.entries() : []) {
      undo(cells, at, layout.width, starts, layout.limitAt(l, 0), this.#request.giveBack, this.#takenAt)
    }
    this.#waiter.resolve()
  }

  fail(error: unknown): void {
    this.#waiter.reject(error)
  }
}
