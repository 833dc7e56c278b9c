import type { TakeOutcome, TakeReply, WindowStates } from '@scoregw/quota/store'
import { charge, reanchor, type SettleRequest, type TakeRequest } from '../one-unit.ts'
import { CODES, DAMAGE } from './codes.ts'
import type { Call, Operation, Replay, Waiter } from './operation.ts'
import { statesOfRecord } from './row-bytes.ts'
import { chargeOpen, spansOf, statesOfCells, viewOf } from './states.ts'

const OUTCOMES: Readonly<Record<string, TakeOutcome>> = {
  a: 'admitted',
  r: 'refused',
  m: 'admitted',
  d: 'duplicate',
  x: 'cancelled',
  c: 'conflict',
  s: 'stale',
  t: 'stale',
}

/** A decision. Where its caller was already told that the store did not answer, a late admission is given back. */
export class TakeOperation implements Operation {
  readonly repeatable: boolean
  readonly #request: TakeRequest
  readonly #waiter: Waiter<TakeReply>
  readonly #giveBack: (request: SettleRequest) => void
  /** Where its rows are in a replay, one a layer. */
  #rows: readonly number[] = []
  #failed = false

  constructor(request: TakeRequest, waiter: Waiter<TakeReply>, giveBack: (request: SettleRequest) => void) {
    this.#request = request
    this.repeatable = request.id !== undefined
    this.#waiter = waiter
    this.#giveBack = giveBack
  }

  get plainTake(): TakeRequest | undefined {
    return this.#request.cost > 0 ? this.#request : undefined
  }

  standAt(rows: readonly number[]): void {
    this.#rows = rows
  }

  encode(call: Call): void {
    const { subject, category, quotas, id } = this.#request
    const tariff = call.tariff(this.#request)
    if (id !== undefined) call.code(CODES.TAKE_ID)
    call.code(CODES.FIRST_TARIFF + tariff)
    const rows: number[] = []
    for (const layer of quotas.layers) {
      const place = call.row(layer, category, subject)
      rows.push(call.cellsAt(place))
      if (!call.isShared(layer)) call.place(place)
    }
    this.#rows = rows
    if (id === undefined) return
    call.place(call.record(category, subject, id.id))
    call.words(id.nonce, id.fingerprint, id.ttlMs)
  }

  answer(replay: Replay, letter: string): void {
    if (letter === DAMAGE) {
      this.#anchor(replay)
      this.fail(replay.damage(this.#rows))
      return
    }
    const outcome = OUTCOMES[letter]!
    const states = this.#states(replay, letter)
    if (this.#failed) {
      if (outcome === 'admitted') this.#undo(states)
    } else if (letter === 's') {
      this.#waiter.resolve({ outcome, now: replay.now, states, settingsRevision: replay.settingsRevision })
    } else {
      this.#waiter.resolve({ outcome, now: replay.now, states })
    }
  }

  fail(error: unknown): void {
    this.#failed = true
    this.#waiter.reject(error)
  }

  #states(replay: Replay, letter: string): WindowStates {
    if (letter === 'm') return statesOfRecord(replay.stored.next().value as Buffer)
    const { cells } = replay
    const { cost, periods } = this.#request
    if (replay.areOpen) {
      if (letter === 'a') chargeOpen(replay, this.#rows, cost)
      return statesOfCells(replay, this.#rows)
    }
    if (letter === 'a' && cost > 0) {
      for (let l = 0; l < this.#rows.length; l++) {
        charge(cells, this.#rows[l]!, spansOf(replay, periods, l), cost)
      }
      return statesOfCells(replay, this.#rows)
    }
    if (letter !== 'a' && letter !== 'r') return []
    if (letter === 'r') this.#anchor(replay)
    return viewOf(replay, this.#rows, periods) ?? []
  }

  #anchor({ cells, layout, now }: Replay): void {
    if (this.#request.cost === 0) return
    for (const at of this.#rows) reanchor(cells, at, layout.width, now)
  }

  #undo(states: WindowStates): void {
    const { subject, category, quotas, cost, id } = this.#request
    this.#giveBack({ subject, category, layers: quotas.layers, states, giveBack: cost, as: 'cancelled', id })
  }
}
