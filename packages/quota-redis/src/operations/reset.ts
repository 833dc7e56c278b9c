import type { ResetRequest } from '@scoregw/quota/store'
import { close } from '../one-unit.ts'
import { CODES } from './codes.ts'
import type { Call, Operation, Replay, Waiter } from './operation.ts'

/** Windows closed by an administrator; closing twice does no harm but to what was charged in between. */
export class ResetOperation implements Operation {
  readonly repeatable = false
  readonly #request: ResetRequest
  readonly #waiter: Waiter<void>
  #rows: readonly number[] = []

  constructor(request: ResetRequest, waiter: Waiter<void>) {
    this.#request = request
    this.#waiter = waiter
  }

  encode(call: Call): void {
    const { subject, categories, layers } = this.#request
    call.code(CODES.RESET)
    this.#rows = call.rows(layers, categories, subject)
  }

  answer(replay: Replay): void {
    for (const at of this.#rows) {
      close(replay.cells, at, replay.layout.width)
      replay.mended(at)
    }
    this.#waiter.resolve()
  }

  fail(error: unknown): void {
    this.#waiter.reject(error)
  }
}
