import type { ReadReply, ReadRequest } from '@scoregw/quota/store'
import { CODES, DAMAGE } from './codes.ts'
import type { Call, Operation, Replay, Waiter } from './operation.ts'
import { viewOf } from './states.ts'

/** A look at the rows, as they are between the operations before and after it. */
export class ReadOperation implements Operation {
  readonly repeatable = true
  readonly #request: ReadRequest
  readonly #waiter: Waiter<ReadReply>
  /** Where the rows are in a replay, for each category in turn. */
  #rows: readonly (readonly number[])[] = []

  constructor(request: ReadRequest, waiter: Waiter<ReadReply>) {
    this.#request = request
    this.#waiter = waiter
  }

  encode(call: Call): void {
    const { subject, categories, layers } = this.#request
    call.code(CODES.LOOK)
    const rows = call.rows(layers, categories, subject)
    this.#rows = categories.map((_, index) => rows.slice(index * layers.length, (index + 1) * layers.length))
  }

  answer(replay: Replay, letter: string): void {
    if (letter === DAMAGE) {
      this.fail(replay.damage(this.#rows.flat()))
      return
    }
    const { now } = replay
    const { periods } = this.#request
    const states = this.#rows.map((rows) => viewOf(replay, rows, periods)).filter((state) => state !== undefined)
    const isStale = states.length < this.#rows.length
    this.#waiter.resolve(isStale ? { now, states: [], isStale } : { now, states })
  }

  fail(error: unknown): void {
    this.#waiter.reject(error)
  }
}
