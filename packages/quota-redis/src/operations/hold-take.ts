import {
  type HoldTerms,
  idOwnerKey,
  type ReservationId,
  type StoreSchema,
  type TakeOutcome,
  type TakeReply,
  type TakeRequest,
} from '@scoregw/quota/store'
import { CODES } from './codes.ts'
import { encodeTariff, type HoldFacts, HoldOperation, STORED } from './hold-operation.ts'
import type { Call, Operation, Replay, Waiter } from './operation.ts'
import { statesOfRecord } from './row-bytes.ts'

/** A take that is a hold. */
export type HoldTakeRequest = TakeRequest & { readonly id: ReservationId; readonly hold: HoldTerms }

/** Whether a take is a hold; its port says that those have an id. */
export function isHoldTake(request: TakeRequest): request is HoldTakeRequest {
  return request.hold !== undefined && request.id !== undefined
}

const OUTCOMES: Readonly<Record<string, TakeOutcome>> = {
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

/** A decision that makes a hold. Where its caller was already told that the store did not answer, it is cancelled. */
export class HoldTakeOperation extends HoldOperation<TakeReply> {
  readonly #request: HoldTakeRequest
  readonly #schema: StoreSchema
  readonly #cancel: (request: HoldTakeRequest) => void
  #failed = false

  constructor(
    request: HoldTakeRequest,
    schema: StoreSchema,
    waiter: Waiter<TakeReply>,
    askAgain: (operation: Operation) => void,
    cancel: (request: HoldTakeRequest) => void,
  ) {
    super(waiter, askAgain)
    this.#request = request
    this.#schema = schema
    this.#cancel = cancel
  }

  encode(call: Call): void {
    const { subject, category, quotas, id, hold } = this.#request
    encodeTariff(call, CODES.TAKE_HOLD, this.#request)
    const rows = quotas.layers.map((layer) => call.row(layer, category, subject))
    this.target(call, rows, call.record(category, subject, id.id), call.holdsOf(subject))
    const slots = hold.slot && call.layout.hasSlots ? 1 : 0
    const named = [this.#schema.categories[category]!, idOwnerKey(this.#schema, subject)]
    call.words(id.nonce, id.fingerprint, id.ttlMs, hold.ttlMs, slots, hold.maxHolds, ...named)
  }

  override fail(error: unknown): void {
    this.#failed = true
    super.fail(error)
  }

  protected reply(replay: Replay, letter: string, [endsAt]: HoldFacts, told: Buffer): TakeReply {
    const { quotas, periods } = this.#request
    const { now } = replay
    const outcome = OUTCOMES[letter]!
    if (letter === 's') return { outcome, now, states: [], settingsRevision: replay.settingsRevision }
    if (letter === 'r') return { outcome, now, states: this.states(replay, quotas.layers.length, periods) }
    if (outcome !== 'admitted') return { outcome, now, states: [] }
    if (this.#failed) this.#cancel(this.#request)
    const states = letter === STORED ? statesOfRecord(told) : this.states(replay, quotas.layers.length, periods)
    return endsAt === undefined ? { outcome, now, states } : { outcome, now, states, endsAt: Number(endsAt) }
  }
}
