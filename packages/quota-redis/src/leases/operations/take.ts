import type { SettleRequest, TakeOutcome, TakeReply, TakeRequest, WindowStates } from '@scoregw/quota/store'
import type { LeaseBatch, LeaseOperation } from './batch.ts'
import { DAMAGE, STORED, type Waiter } from './operation.ts'
import type { LeaseReplay } from './replay.ts'
import { statesOfRecord } from './row-bytes.ts'
import type { Terms } from './terms.ts'

/** What the letters of takes say. */
export const TAKE_OUTCOMES: Readonly<Record<string, TakeOutcome>> = {
  a: 'admitted',
  r: 'refused',
  m: 'admitted',
  d: 'duplicate',
  x: 'cancelled',
  c: 'conflict',
  s: 'stale',
  t: 'stale',
  e: 'expired',
  h: 'too_many_holds',
}

/** A decision. Where its caller was already turned away, a late admission is given back. */
export class TakeOperation implements LeaseOperation {
  readonly repeatable: boolean
  readonly #request: TakeRequest
  readonly #waiter: Waiter<TakeReply>
  readonly #giveBack: (request: SettleRequest) => void
  #terms: Terms | undefined
  /** Where its rows are in a replay, one a layer. */
  #rows: readonly number[] = []
  #failed = false

  constructor(request: TakeRequest, waiter: Waiter<TakeReply>, giveBack: (request: SettleRequest) => void) {
    this.#request = request
    this.repeatable = request.id !== undefined
    this.#waiter = waiter
    this.#giveBack = giveBack
  }

  encode(batch: LeaseBatch): void {
    const { subject, category, costs, id } = this.#request
    const terms = batch.terms(this.#request)
    this.#terms = terms
    if (!costsNothing(costs)) {
      this.#rows = batch.take(this.#request, terms)
      return
    }
    batch.code('FREE')
    if (id === undefined) batch.numbers([0, 0])
    else batch.numbers([batch.record(batch.keys.oldRecord(category, subject, id.id)), id.ttlMs])
    batch.number(terms.number)
    this.#rows = batch.ownRows(terms, category, subject)
    batch.text(id === undefined ? '' : batch.recordText(id, terms))
  }

  answer(replay: LeaseReplay, letter: string): void {
    if (letter === DAMAGE) {
      replay.reanchor(this.#rows, this.#request)
      this.fail(replay.damage(this.#rows))
      return
    }
    const outcome = TAKE_OUTCOMES[letter]!
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

  #states(replay: LeaseReplay, letter: string): WindowStates {
    const { periods, costs } = this.#request
    if (letter === STORED) return statesOfRecord(replay.answer(), replay.layout, this.#terms!.order)
    if (letter !== 'a' && letter !== 'r') return []
    if (letter === 'r') {
      replay.reanchor(this.#rows, this.#request)
      return replay.view(this.#rows, periods) ?? []
    }
    replay.charge(this.#rows, this.#request)
    return replay.view(this.#rows, periods, costs) ?? []
  }

  #undo(states: WindowStates): void {
    const { subject, category, quotas, costs, id } = this.#request
    const giveBack = costs.slice(0, -1)
    this.#giveBack({ subject, category, layers: quotas.layers, states, giveBack, as: 'cancelled', id })
  }
}

function costsNothing(costs: readonly number[]): boolean {
  for (let unit = 0; unit < costs.length - 1; unit++) if (costs[unit] !== 0) return false
  return true
}
