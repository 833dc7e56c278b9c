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

/** Whether a take is a hold. Takes of holds always have an id. */
export function isHoldTake(request: TakeRequest): request is HoldTakeRequest {
  return request.hold !== undefined && request.id !== undefined
}

/** The reply to a take, with the shared charge that its record contains. */
export interface HoldTaken extends TakeReply {
  /** The take whose charge the record contains. Absent if it never had one in another slot. */
  readonly mark?: string
  /** Whether its charge in another slot is not known yet. */
  readonly isPartial?: boolean
  /** For a request that made no hold: it was sent twice, and may still make one. */
  readonly isInDoubt?: boolean
}

/** The reply to a growth, even if its first reply was lost and the hold has ended since. */
export interface Grown extends HoldReply {
  /** For an ended hold: whether it had grown by this growth. */
  readonly hasGrown?: boolean
  /** For a growth that was not made: it was sent twice, and may still be made. */
  readonly isInDoubt?: boolean
}

/** Identifies a growth. */
export interface GrowthIdentity {
  readonly mark: string
  readonly shared: SharedCharge | undefined
}

/** A take or a growth to be undone. */
export interface UndoHoldRequest extends HoldRef {
  /** Of the growth; `undefined` undoes the take and removes the hold. */
  readonly growth: string | undefined
  readonly costs: readonly number[]
  /** When it was charged, epoch milliseconds. Windows that start at this time or later were opened by it. */
  readonly takenAt: number
}

/** The counters of one policy in one slot, with the operations that only leases need. */
export class Shard {
  readonly #counters: Counters

  /** @param refund receives the charges in other slots of holds that end here; never rejects */
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

  /** Resolves to whether the reservation was open and belonged to this nonce. */
  settle(request: SettleRequest): Promise<boolean> {
    return this.#counters.settle(request)
  }

  reset(request: ResetRequest): Promise<void> {
    return this.#counters.reset(request)
  }

  /** Waits for calls in flight, at most one deadline; later calls fail. The connection stays open. */
  close(): Promise<void> {
    return this.#counters.close()
  }

  /**
   * Undoes an admission. Unlike a cancellation, it closes windows that it opened and nothing else used, and forgets the
   * id.
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

  /** @param shared the hold's charge in another slot */
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

  /** Stores an open hold's charge in another slot. Resolves to whether its record has that charge, or had it. */
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

  /** Removes a hold, or one of its growths. Windows that it opened and nothing else used are closed. */
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

  /** The open holds of a subject, without those of unknown categories. */
  list(request: ListHoldsRequest): Promise<ListHoldsReply> {
    return this.#counters.holds.list(request)
  }

  #placeOf({ category, subject, id }: HoldRef & { readonly subject: Subject }): RecordPlace {
    return this.keys.recordPlace(category, subject, id.id)
  }
}

/** The shared charge in the record of a take, if this request made the record. */
function sharedFacts({ reply, record, isRepeated }: Taken, id: ReservationId): Partial<HoldTaken> {
  const shared = record?.nonce === id.nonce && reply.outcome !== 'conflict' ? record.hold?.shared : undefined
  if (shared === undefined) return isRepeated ? { isInDoubt: true } : {}
  return { mark: shared.mark, isPartial: record?.state === 'reserved' && shared.rows.length === 0 }
}

/** The refunds that undo a charge. @param withSlots whether slots are released as well */
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

/** A hold without one of its growths. */
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
