import { type HoldTerms, idOwnerKey, type ReservationId, type TakeReply, type TakeRequest } from '@scoregw/quota/store'
import type { LeaseBatch } from './batch.ts'
import { type HoldDesk, type HoldFacts, HoldOperation } from './hold-operation.ts'
import { encodeShared, type SharedCharge } from './hold-shared.ts'
import { STORED, type Waiter } from './operation.ts'
import type { LeaseReplay } from './replay.ts'
import { statesOfRecord } from './row-bytes.ts'
import { TAKE_OUTCOMES } from './take.ts'
import type { Terms } from './terms.ts'

/** A take that is a hold. */
export type HoldTakeRequest = TakeRequest & { readonly id: ReservationId; readonly hold: HoldTerms }

/** Whether a take is a hold; its port says that those have an id. */
export function isHoldTake(request: TakeRequest): request is HoldTakeRequest {
  return request.hold !== undefined && request.id !== undefined
}

/** The answer to a take, with what its record says of another slot. */
export interface HoldTaken extends TakeReply {
  /** Of the take whose charge the record has; absent where it has none of another slot, and never had. */
  readonly mark?: string
  /** What it was charged in another slot is yet to be said. */
  readonly isPartial?: boolean
  /** For a request that is no hold: it may still become one, as it was sent twice. */
  readonly isInDoubt?: boolean
}

/** A decision that makes a hold. Where its caller was already turned away, it is cancelled. */
export class HoldTakeOperation extends HoldOperation<HoldTaken> {
  readonly #request: HoldTakeRequest
  readonly #shared: SharedCharge | undefined
  readonly #cancel: (request: HoldTakeRequest) => void
  #terms: Terms | undefined
  #failed = false

  constructor(
    request: HoldTakeRequest,
    shared: SharedCharge | undefined,
    waiter: Waiter<HoldTaken>,
    desk: HoldDesk,
    cancel: (request: HoldTakeRequest) => void,
  ) {
    super(waiter, desk)
    this.#request = request
    this.#shared = shared
    this.#cancel = cancel
  }

  encode(batch: LeaseBatch): void {
    const { subject, category, quotas, costs, id, hold } = this.#request
    const { keys } = batch
    const terms = batch.terms(this.#request)
    batch.code('TAKE_HOLD')
    const rows = quotas.layers.map((layer) => batch.row(layer, category, subject))
    this.target(batch, rows, keys.oldRecord(category, subject, id.id), keys.holdsOf(subject))
    batch.number(terms.number)
    batch.ownRows(terms, category, subject)
    batch.amounts(costs, keys.schema.units.length + 1)
    batch.numbers([id.ttlMs, hold.ttlMs, hold.maxHolds])
    batch.text(batch.recordText(id, terms), keys.schema.categories[category]!, idOwnerKey(keys.schema, subject))
    encodeShared(batch, this.#shared)
    this.#terms = terms
  }

  override fail(error: unknown): void {
    this.#failed = true
    super.fail(error)
  }

  protected reply(replay: LeaseReplay, letter: string, facts: HoldFacts, stored: Buffer): HoldTaken {
    const { quotas, periods, costs } = this.#request
    const [endsAt, mark, isPartial] = facts as [number?, string?, number?]
    const noMark = this.isRepeated ? { isInDoubt: true } : undefined
    const elsewhere = mark === undefined ? noMark : { mark, isPartial: isPartial === 1 }
    const reply = { outcome: TAKE_OUTCOMES[letter]!, now: replay.now, ...elsewhere }
    if (letter === 's') return { ...reply, states: [], settingsRevision: replay.settingsRevision }
    if (letter === 'r') return { ...reply, states: this.states(replay, quotas.layers.length, periods) }
    if (reply.outcome !== 'admitted') return { ...reply, states: [] }
    if (this.#failed) this.#cancel(this.#request)
    const states =
      letter === STORED
        ? statesOfRecord(stored, replay.layout, this.#terms!.order)
        : this.states(replay, quotas.layers.length, periods, costs)
    return endsAt === undefined ? { ...reply, states } : { ...reply, states, endsAt }
  }
}
