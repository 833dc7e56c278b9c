import {
  cellOfIdentity,
  type ExtendRequest,
  type GrowRequest,
  type HoldOptions,
  type HoldOutcome,
  type HoldRef,
  type HoldReply,
  holdOutcome,
  isToSettle,
  type ListHoldsReply,
  type ListHoldsRequest,
  named,
  type ReadReply,
  type ReadRequest,
  type ReservationId,
  type ResetRequest,
  type SettleHoldReply,
  type SettleHoldRequest,
  type SettleRequest,
  SLOTS,
  type Subject,
  type TakeReply,
  type TakeRequest,
} from '@scoregw/quota/store'
import type { HoldSweeper } from '../calls/hold-sweeper.ts'
import type { Refund } from '../counters/charges.ts'
import { type Counters, type CountersDeps, openCounters } from '../counters/counters.ts'
import { growthOf, growthReply } from '../counters/growth.ts'
import { type HoldOfRecord, newMark, withGrowth } from '../counters/record.ts'
import { type HeldRecord, seenAt } from '../counters/record-changes.ts'
import { refundsOfStates } from '../counters/refunds.ts'
import type { Taken } from '../counters/takes-under-ids.ts'
import type { Keys, RecordPlace } from '../keys/keys.ts'
import { type FreedAmounts, HoldRecords, type SharedCharge, withCharge } from './hold-records.ts'

/** A take that is a hold. */
export type HoldTakeRequest = TakeRequest & { readonly id: ReservationId; readonly hold: HoldOptions }

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

/** The answer to a growth, also where its first answer was lost and the hold has ended since. */
export interface Grown extends HoldReply {
  /** Of a hold that does not grow any more: it did, by this growth. */
  readonly hasGrown?: boolean
  /** Of one that was not made: it may be yet, as it was sent twice. */
  readonly isInDoubt?: boolean
}

/** What makes a growth one and no other. */
export interface GrowthIdentity {
  readonly mark: string
  readonly shared: SharedCharge | undefined
}

/** A take or a growth to be undone. */
export interface UndoHoldRequest extends HoldRef {
  /** Of the growth; `undefined`: the take, and the hold with it. */
  readonly growth: string | undefined
  readonly costs: readonly number[]
  /** When it was charged, epoch milliseconds: windows that start no earlier were opened by it. */
  readonly takenAt: number
}

/** The counters of one policy in one slot, and what leases do to them beyond what every store does. */
export class Shard {
  readonly #counters: Counters

  /** @param refund gets what a hold that ends here had in another slot; never rejects */
  constructor(deps: CountersDeps, refund: (freed: FreedAmounts) => Promise<void>) {
    this.#counters = openCounters(deps, (keys, book, caller) => new HoldRecords(keys, book, caller, refund))
  }

  get keys(): Keys {
    return this.#counters.keys
  }

  get sweeper(): HoldSweeper {
    return this.#counters.holds.sweeper
  }

  take(request: TakeRequest): Promise<TakeReply> {
    return this.#counters.take(request)
  }

  read(request: ReadRequest): Promise<ReadReply> {
    return this.#counters.read(request)
  }

  /** Resolves to whether the reservation was this nonce's to settle, and open. */
  settle(request: SettleRequest): Promise<boolean> {
    return this.#counters.settle(request)
  }

  reset(request: ResetRequest): Promise<void> {
    return this.#counters.reset(request)
  }

  /** Waits for the calls in flight, a deadline at most; later ones fail. The connection is left open. */
  close(): Promise<void> {
    return this.#counters.close()
  }

  /**
   * Makes an admission one that never was: as cancelled, but windows that it opened and nothing else used are closed again, and
   * its id is forgotten.
   *
   * @param takenAt the time of the reply that admitted it
   */
  async undo(request: SettleRequest, takenAt: number): Promise<void> {
    const { category, subject, id } = request
    const refunds = refundsOfStates(request, this.keys).map((refund) => ({
      ...refund,
      closes: refund.startedAt >= takenAt,
    }))
    if (id === undefined) return this.#counters.refund(refunds)
    await this.#counters.changes.change(this.#placeOf({ category, subject, id }), (record) => {
      if (!isToSettle(record, id)) return { result: undefined }
      const after = { ...record, mark: newMark(), state: 'cancelled' } as const
      return { result: undefined, change: { after, keepMs: 0, refunds } }
    })
  }

  // Holds --------------------------------------------------------------------------------------------------------------

  /** @param shared what it has in another slot */
  async takeHold(request: HoldTakeRequest, shared?: SharedCharge): Promise<HoldTaken> {
    const { id } = request
    const { underIds } = this.#counters
    const begun = underIds.begun(request, id)
    const part = shared && { mark: shared.mark, rows: shared.of === '' ? [] : [{ of: shared.of, cells: shared.cells }] }
    const hold = { ...begun.hold!, shared: part }
    const taken = await underIds.taken(request, id, { ...begun, hold })
    return { ...taken.reply, ...sharedFacts(taken, id) }
  }

  async grow(
    request: GrowRequest,
    { mark, shared }: GrowthIdentity = { mark: newMark(), shared: undefined },
  ): Promise<Grown> {
    const decide = growthOf(request, mark, this.keys.schema.units)
    let hasGrown = false
    const changed = await this.#counters.changes.change(this.#placeOf(request), (stored, now) => {
      const decided = decide(stored, now)
      hasGrown = stored?.nonce === request.id.nonce && stored.hold?.growths.includes(mark) === true
      return shared !== undefined && decided.result.isCharged ? withCharge(decided, shared) : decided
    })
    const reply = growthReply(changed)
    return reply.outcome === 'held' ? reply : { ...reply, hasGrown, isInDoubt: changed.isRepeated }
  }

  /** Notes what an open hold was charged in another slot. Resolves to whether its record has that, or had it. */
  async attach(ref: HoldRef, charge: SharedCharge): Promise<boolean> {
    const { result } = await this.#counters.changes.change<boolean>(this.#placeOf(ref), (stored, now) => {
      const { record, ended } = seenAt(stored, now)
      const isMade = record?.hold?.growths.includes(charge.mark) === true
      if (holdOutcome(record, ref.id) !== 'held') return { result: isMade, change: ended }
      if (isMade) return { result: true }
      const { hold } = record as HeldRecord
      const after = { ...record!, mark: newMark(), hold: { ...hold, growths: withGrowth(hold.growths, charge.mark) } }
      return withCharge({ result: true, change: { after, keepMs: hold.keepMs, until: hold.endsAt } }, charge)
    })
    return result
  }

  /** Makes a hold one that never was, or a growth of it: windows that it opened and nothing else used are closed again. */
  async undoHold({ growth, costs, takenAt, ...ref }: UndoHoldRequest): Promise<HoldOutcome> {
    const back = named(this.keys.schema.units, costs)
    const { result } = await this.#counters.changes.change<HoldOutcome>(this.#placeOf(ref), (stored, now) => {
      const { record, ended } = seenAt(stored, now)
      const outcome = holdOutcome(record, ref.id)
      if (outcome !== 'held') return { result: outcome, change: ended }
      const { hold } = record as HeldRecord
      if (growth !== undefined && !hold.growths.includes(growth)) return { result: 'unknown' }
      const refunds = undoneRefunds(hold, back, takenAt, growth === undefined)
      const within = { keepMs: hold.keepMs, until: hold.endsAt, refunds }
      const mark = newMark()
      if (growth === undefined) {
        return { result: outcome, change: { ...within, after: { ...record!, mark, state: 'cancelled' }, keepMs: 0 } }
      }
      const after = { ...record!, mark, hold: withoutGrowth(hold, growth, back, refunds) }
      return { result: outcome, change: { ...within, after } }
    })
    return result
  }

  extend(request: ExtendRequest): Promise<HoldReply> {
    return this.#counters.holds.extend(request)
  }

  settleHold(request: SettleHoldRequest): Promise<SettleHoldReply> {
    return this.#counters.holds.settle(request)
  }

  /** Open holds of a subject, those of categories that are not known here left out. */
  list(request: ListHoldsRequest): Promise<ListHoldsReply> {
    return this.#counters.holds.list(request)
  }

  #placeOf({ category, subject, id }: HoldRef & { readonly subject: Subject }): RecordPlace {
    return this.keys.recordPlace(category, subject, id.id)
  }
}

/** What the record of a take says of another slot, to the one whose record it is. */
function sharedFacts({ reply, record, isRepeated }: Taken, id: ReservationId): Partial<HoldTaken> {
  const shared = record?.nonce === id.nonce && reply.outcome !== 'conflict' ? record.hold?.shared : undefined
  if (shared === undefined) return isRepeated ? { isInDoubt: true } : {}
  return { mark: shared.mark, isPartial: record?.state === 'reserved' && shared.rows.length === 0 }
}

/** What goes back when a charge is undone. @param withSlots slots as well */
function undoneRefunds(
  { charges }: HoldOfRecord,
  back: Readonly<Record<string, number>>,
  takenAt: number,
  withSlots: boolean,
): Refund[] {
  return charges.flatMap(([row, identity, startedAt, charged]): Refund[] => {
    const { unit = '' } = cellOfIdentity(identity) ?? {}
    const ofSlots = withSlots ? charged : 0
    const amount = unit === SLOTS ? ofSlots : Math.min(charged, back[unit] ?? 0)
    return amount === 0 ? [] : [{ row, identity, startedAt, amount, closes: unit === SLOTS || startedAt >= takenAt }]
  })
}

/** A hold as if a growth had never been. */
function withoutGrowth(
  hold: HoldOfRecord,
  growth: string,
  back: Readonly<Record<string, number>>,
  refunds: readonly Refund[],
): HoldOfRecord {
  const costs = Object.entries(hold.costs).map(([unit, cost]) => [unit, cost - (back[unit] ?? 0)] as const)
  const charges = hold.charges.flatMap(([row, identity, startedAt, charged]) => {
    const { amount = 0 } = refunds.find((refund) => refund.row === row && refund.identity === identity) ?? {}
    return charged > amount ? [[row, identity, startedAt, charged - amount] as const] : []
  })
  return { ...hold, costs: Object.fromEntries(costs), charges, growths: hold.growths.filter((each) => each !== growth) }
}
