import type { HoldOutcome, HoldRef, WindowStates } from '@scoregw/quota/store'
import { CODES } from './codes.ts'
import { HOLD_OUTCOMES } from './hold-extend.ts'
import { type HoldDesk, type HoldFacts, HoldOperation } from './hold-operation.ts'
import type { Call, Replay, Waiter } from './operation.ts'

/** A take or a growth to be undone. */
export interface UndoHoldRequest extends HoldRef {
  /** Of the growth; `undefined`: the take, and the hold with it. */
  readonly growth: string | undefined
  readonly tokens: number
  /** When it was charged, epoch milliseconds: windows that start no earlier were opened by it. */
  readonly takenAt: number
  /** Layers whose rows are looked at thereafter. */
  readonly layers: readonly number[]
  readonly periods?: readonly number[] | undefined
}

/** What came of it: `held` where it was undone, and the states of the rows thereafter. */
export interface Undone {
  readonly outcome: HoldOutcome
  readonly states: WindowStates
}

/** A charge taken back, windows that it opened in vain included. Of a take, slots and the id as well. */
export class UndoHoldOperation extends HoldOperation<Undone> {
  readonly #request: UndoHoldRequest

  constructor(request: UndoHoldRequest, waiter: Waiter<Undone>, desk: HoldDesk) {
    super(waiter, desk)
    this.#request = request
  }

  encode(call: Call): void {
    const { id, growth, tokens, takenAt, layers } = this.#request
    call.code(CODES.UNDO_HOLD)
    this.targetOf(call, this.#request, layers)
    call.words(id.nonce, growth ?? '', tokens, takenAt)
  }

  protected reply(replay: Replay, letter: string, _: HoldFacts): Undone {
    const { layers, periods } = this.#request
    const outcome = HOLD_OUTCOMES[letter]!
    return { outcome, states: outcome === 'held' ? this.states(replay, layers.length, periods) : [] }
  }
}
