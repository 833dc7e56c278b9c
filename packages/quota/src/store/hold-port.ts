import type { WindowStates } from '../decision/decide.ts'
import type { Quotas } from '../policy/limits.ts'
import type { Amounts } from '../windows/units.ts'
import type { ReservationId, Subject } from './schema.ts'

/** What makes a reservation a hold: what it charged, and its slots, are its own until it is settled or ends. */
export interface HoldOptions {
  /** It ends so many milliseconds after it was taken, by the store's clock. */
  readonly ttlMs: number
  /** Most open holds of the subject (of its key in the first own layer, over all categories). */
  readonly maxHolds: number
}

/** Which hold: that of an id, to the one who took it. */
export interface HoldRef {
  readonly subject: Subject
  /** Index into the schema's categories. */
  readonly category: number
  readonly id: ReservationId
}

/** Moves the end of a hold to `max(end, now + ttlMs)`. */
export interface ExtendRequest extends HoldRef {
  readonly ttlMs: number
}

/** Grows a hold: more is charged in the windows that are open now, in every one or in none. */
export interface GrowRequest extends HoldRef {
  /** As of a take, some unit above 0; slots are 0, since a hold takes them when it begins. */
  readonly costs: readonly number[]
  /** Limits and layers in force now. */
  readonly quotas: Quotas
  /** As of a take. */
  readonly periods?: readonly number[] | undefined
  /** As of a take. */
  readonly settingsRevision?: string | undefined
}

/**
 * - `held`: done; the hold is open.
 * - `refused`: it does not fit (of a growth); nothing was written but what rule 5 of the port allows.
 * - `expired`: it ended before; its tokens went back.
 * - `settled`: it was committed or cancelled before.
 * - `unknown`: there is no such hold, or it is another holder's.
 * - `stale`: as of a take.
 */
export type HoldOutcome = 'held' | 'refused' | 'expired' | 'settled' | 'unknown' | 'stale'

export interface HoldReply {
  readonly outcome: HoldOutcome
  /** The store's clock, epoch milliseconds. */
  readonly now: number
  /** Of `held`: when it ends, epoch milliseconds. */
  readonly endsAt?: number | undefined
  /** Of a growth, `held` or `refused`: the states of the rows of `quotas` after it; else empty. */
  readonly states: WindowStates
  readonly settingsRevision?: string | undefined
}

/** The outcome of an actual cost above what was reserved. */
export type Overrun = 'refuse' | 'charge' | 'fit'

/** The end of a hold by its holder. */
export interface SettleHoldRequest extends HoldRef {
  readonly as: 'committed' | 'cancelled'
  /**
   * What the work cost, one number a unit of the schema; `undefined` of a unit: what the hold has of it.
   * @default what the hold has
   */
  readonly actual?: readonly (number | undefined)[] | undefined
  /** The outcome of an actual cost above the hold: nothing is done, it is charged regardless of the limits, or as it fits. */
  readonly overrun: Overrun
  /** Most that one commit charges beyond what the hold had, one number a unit; the rest is `uncharged`. */
  readonly maxOverrun: readonly number[]
  /** Limits and layers in force now, which govern the additional charge. */
  readonly quotas: Quotas
  /** As of a take. */
  readonly periods?: readonly number[] | undefined
}

/**
 * - `settled`: done now, or earlier by the same holder, who gets the same answer.
 * - `above`: the actual cost is above the hold, and `overrun` refuses it; nothing was done, the hold is as it was.
 * - `expired`: it ended before and cannot be charged any more; nothing was charged.
 * - `cancelled`: a commit of what was cancelled; nothing was charged.
 * - `unknown`: there is no such hold, or it is another holder's; nothing was charged.
 * - `stale`: the store's clock is outside of the periods; ask again. (The revision is not looked at.)
 */
export type SettleHoldOutcome = 'settled' | 'above' | 'expired' | 'cancelled' | 'unknown' | 'stale'

/** What a commit came to, one number a unit of the schema; of what charged nothing all 0. */
export interface Settled<A = readonly number[]> {
  /** What the commit left charged in all. */
  readonly charged: A
  /** What of the actual cost was charged nowhere. */
  readonly uncharged: A
  /** What the hold had, before. */
  readonly reserved: A
}

export interface SettleHoldReply extends Settled {
  readonly outcome: SettleHoldOutcome
  readonly now: number
  /**
   * Of the commit that settled the hold: what it charged beside what the hold had, one number a unit; of a late one, all of
   * it. Absent where nothing was settled by this call, also of a repeat.
   */
  readonly added?: readonly number[] | undefined
  /** Where something was added: the states of the rows of `quotas` after it; else empty. */
  readonly states: WindowStates
}

/** Open holds of a subject, by its key in the first own layer. */
export interface ListHoldsRequest {
  readonly subject: Subject
}

/** An open hold. */
export interface HoldRecord {
  /** Index into the schema's categories. Holds of categories that the schema does not have are left out. */
  readonly category: number
  readonly id: string
  readonly nonce: string
  readonly fingerprint: string
  /** What it has, also of units that the schema does not have; of `slots` 1 where it has a slot. */
  readonly costs: Amounts
  /** Epoch milliseconds. */
  readonly takenAt: number
  readonly endsAt: number
  /** Its row in the first own layer, cells of the schema in order: pairs `[startedAt, amount]`, `[-1, 0]` where none. */
  readonly charged: readonly number[]
}

export interface ListHoldsReply {
  readonly now: number
  /** The earliest end first. */
  readonly holds: readonly HoldRecord[]
}

/** A hold that ended without being settled. */
export interface EndedHold {
  readonly category: string
  /** The subject's key in the first own layer. */
  readonly owner: string
  readonly fingerprint: string
  /** As of {@link HoldRecord}. */
  readonly costs: Amounts
  readonly endsAt: number
}

export interface SweepReply {
  /** Holds that this process settled as ended since it was last asked, 1,000 at the most. */
  readonly ended: readonly EndedHold[]
  /** Open holds of all subjects now. */
  readonly open: number
}

/**
 * Holds of a store. A take with {@link HoldOptions} makes one: its record is kept, while it is open, without an end; after
 * that at least `id.ttlMs`. What every store promises:
 *
 * 1. A hold ends when the store's clock passes `endsAt`: what it has goes back to the windows it came from, its slots are
 *    free, its record says `expired`. Exactly once, never before, at most 1 s after. Whatever finds a hold past its end
 *    settles it as ended first, in the same step; a clock that steps back revives nothing.
 * 2. What was charged goes back only to cells with the start that it was taken under, slots as well. Settles follow the
 *    record, whatever layers are in force now. The record names units: of those that the schema of a commit does not have,
 *    all stays charged.
 * 3. A commit above the hold in some unit charges the excess in the windows open then, in one step with the settling. A
 *    commit after the end charges, unit by unit, `min(actual, what the hold had + maxOverrun)` as a new charge where
 *    `overrun` is `charge` and the record lives; else it is `expired`. A repeat by the same holder is answered from the
 *    record, without `added`, and charges nothing. `fit` fits every unit by itself.
 * 4. Cancelling an unknown id marks it cancelled, as `settle` does. Cancelling after the end does nothing (`settled`).
 * 5. A repeated take by the same holder after the end is `expired`, by another one `duplicate`.
 * 6. A row lives at least until the latest end of a hold that has a slot in it.
 */
export interface SyncHolds {
  extend(request: ExtendRequest): HoldReply
  grow(request: GrowRequest): HoldReply
  settle(request: SettleHoldRequest): SettleHoldReply
  list(request: ListHoldsRequest): ListHoldsReply
  /** Settles holds whose end has passed; stores that wait for no one to ask do so by themselves as well. */
  sweep(): SweepReply
}

/** As {@link SyncHolds}, for stores that answer later. */
export interface AsyncHolds {
  extend(request: ExtendRequest): PromiseLike<HoldReply>
  grow(request: GrowRequest): PromiseLike<HoldReply>
  settle(request: SettleHoldRequest): PromiseLike<SettleHoldReply>
  list(request: ListHoldsRequest): PromiseLike<ListHoldsReply>
  sweep(): PromiseLike<SweepReply>
}
