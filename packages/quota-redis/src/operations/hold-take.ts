import {
  idOwnerKey,
  type ReservationId,
  type StoreSchema,
  type TakeOutcome,
  type TakeReply,
} from '@scoregw/quota/store'
import type { HoldTerms, TakeRequest } from '../one-unit.ts'
import { CODES } from './codes.ts'
import { encodeTariff, type HoldDesk, type HoldFacts, HoldOperation, STORED } from './hold-operation.ts'
import { encodeShared, type SharedCharge } from './hold-shared.ts'
import type { Call, Replay, Waiter } from './operation.ts'
import { statesOfRecord } from './row-bytes.ts'

/** A take that is a hold. */
export type HoldTakeRequest = TakeRequest & { readonly id: ReservationId; readonly hold: HoldTerms }

/** Whether a take is a hold; its port says that those have an id. */
export function isHoldTake(request: TakeRequest): request is HoldTakeRequest {
  return request.hold !== undefined && request.id !== undefined
}

/** The answer to a take, with what its record says of another slot. */
export interface HoldTaken extends TakeReply {
  /** Of the take whose tokens the record has; absent where it has none of another slot, and never had. */
  readonly mark?: string
  /** What it was charged in another slot is yet to be said. */
  readonly isPartial?: boolean
  /** Of what is no hold: it may become one yet, as it was sent twice. */
  readonly isInDoubt?: boolean
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
export class HoldTakeOperation extends HoldOperation<HoldTaken> {
  readonly #request: HoldTakeRequest
  readonly #schema: StoreSchema
  readonly #shared: SharedCharge | undefined
  readonly #cancel: (request: HoldTakeRequest) => void
  #failed = false

  constructor(
    request: HoldTakeRequest,
    { schema, shared }: { readonly schema: StoreSchema; readonly shared: SharedCharge | undefined },
    waiter: Waiter<HoldTaken>,
    desk: HoldDesk,
    cancel: (request: HoldTakeRequest) => void,
  ) {
    super(waiter, desk)
    this.#request = request
    this.#schema = schema
    this.#shared = shared
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
    encodeShared(call, this.#shared)
  }

  override fail(error: unknown): void {
    this.#failed = true
    super.fail(error)
  }

  protected reply(replay: Replay, letter: string, facts: HoldFacts, told: Buffer): HoldTaken {
    const { quotas, periods } = this.#request
    const [endsAt, mark, isPartial] = facts as [number?, string?, number?]
    const noMark = this.isRepeated ? { isInDoubt: true } : undefined
    const elsewhere = mark === undefined ? noMark : { mark, isPartial: isPartial === 1 }
    const reply = { outcome: OUTCOMES[letter]!, now: replay.now, ...elsewhere }
    if (letter === 's') return { ...reply, states: [], settingsRevision: replay.settingsRevision }
    if (letter === 'r') return { ...reply, states: this.states(replay, quotas.layers.length, periods) }
    if (reply.outcome !== 'admitted') return { ...reply, states: [] }
    if (this.#failed) this.#cancel(this.#request)
    const states = letter === STORED ? statesOfRecord(told) : this.states(replay, quotas.layers.length, periods)
    return endsAt === undefined ? { ...reply, states } : { ...reply, states, endsAt }
  }
}
