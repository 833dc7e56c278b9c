import type { Layout } from '@scoregw/quota/store'
import { refund, type SettleRequest } from '../one-unit.ts'
import { CODES, DAMAGE } from './codes.ts'
import type { Call, Operation, Replay, Waiter } from './operation.ts'

/** A start that no window has: of windows whose states are not known. */
const NO_START = -2

/** Starts of the windows that were charged, one for each window of each layer. */
export function startedAts({ layers, states }: SettleRequest, layout: Layout): readonly number[] {
  const known = layout.startsOf(states)
  return Array.from({ length: layout.limitAt(layers.length, 0) }, (_, index) => known[index] ?? NO_START)
}

/** The end of a reservation. */
export class SettleOperation implements Operation {
  readonly repeatable: boolean
  readonly #request: SettleRequest
  readonly #waiter: Waiter<boolean>
  #rows: readonly number[] = []

  constructor(request: SettleRequest, waiter: Waiter<boolean>) {
    this.#request = request
    this.repeatable = request.id !== undefined
    this.#waiter = waiter
  }

  encode(call: Call): void {
    const { subject, category, layers, giveBack, as, id } = this.#request
    call.code(id === undefined ? CODES.SETTLE : CODES.SETTLE_ID)
    this.#rows = call.rows(layers, [category], subject)
    if (id === undefined) {
      call.words(...startedAts(this.#request, call.layout), giveBack)
    } else {
      call.place(call.record(category, subject, id.id))
      call.words(as === 'committed' ? 'C' : 'X', id.nonce, id.fingerprint, id.ttlMs, giveBack)
    }
  }

  answer(replay: Replay, letter: string): void {
    if (letter === DAMAGE) {
      this.fail(replay.damage(this.#rows))
      return
    }
    const { cells, layout } = replay
    if (letter === 'y') {
      const starts = startedAts(this.#request, layout)
      for (const [l, at] of this.#rows.entries()) {
        refund(cells, at, layout.width, starts, layout.limitAt(l, 0), this.#request.giveBack)
      }
    }
    this.#waiter.resolve(letter === 'y')
  }

  fail(error: unknown): void {
    this.#waiter.reject(error)
  }
}
