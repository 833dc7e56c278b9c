import type { WindowStates } from '../decision/decide.ts'
import type { Quotas } from '../policy/limits.ts'
import type { Amounts } from '../windows/units.ts'
import type { ReservationId, Subject } from './schema.ts'

/** Makes a reservation a hold: it keeps what it charged, and its slots, until it is settled or expires. */
export interface HoldOptions {
  /** It expires this many milliseconds after it was taken, by the store's clock. */
  readonly ttlMs: number
  /** The most open holds of the subject (by its key in the first own layer, over all categories). */
  readonly maxHolds: number
}

/** Identifies a hold: by its id, for the holder who took it. */
export interface HoldRef {
  readonly subject: Subject
  /** Index of the schema's category. */
  readonly category: number
  readonly id: ReservationId
}

/** Moves a hold's end to `max(end, now + ttlMs)`. */
export interface ExtendRequest extends HoldRef {
  readonly ttlMs: number
}

/** Grows a hold: charges more in the windows that are open now, in all of them or in none. */
export interface GrowRequest extends HoldRef {
  /** As in a take, with some unit above 0. Slots are 0, since a hold takes them when it begins. */
  readonly costs: readonly number[]
  /** The limits and layers in force now. */
  readonly quotas: Quotas
  /** As in a take. */
  readonly periods?: readonly number[] | undefined
  /** As in a take. */
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
  /** For `held`: when it expires, epoch milliseconds. */
  readonly endsAt?: number | undefined
  /** For a growth that is `held` or `refused`: the states of the rows of `quotas` after it; else empty. */
  readonly states: WindowStates
  readonly settingsRevision?: string | undefined
}

/** What happens to an actual cost above what was reserved. */
export type Overrun = 'refuse' | 'charge' | 'fit'

/** Settles a hold, by its holder. */
export interface SettleHoldRequest extends HoldRef {
  readonly as: 'committed' | 'cancelled'
  /**
   * The actual cost, one number per unit of the schema; `undefined` for a unit: what the hold has.
   *
   * @default what the hold has
   */
  readonly actual?: readonly (number | undefined)[] | undefined
  /**
   * What happens to an actual cost above the hold: nothing is done, it is charged regardless of the limits, or as far
   * as it fits.
   */
  readonly overrun: Overrun
  /** The most that one commit charges beyond the hold, one number per unit; the rest is `uncharged`. */
  readonly maxOverrun: readonly number[]
  /** The limits and layers in force now, for the additional charge. */
  readonly quotas: Quotas
  /** As in a take. */
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

/** The result of a commit, one number per unit of the schema; all 0 if it charged nothing. */
export interface Settled<A = readonly number[]> {
  /** The total that the commit left charged. */
  readonly charged: A
  /** The part of the actual cost that was not charged anywhere. */
  readonly uncharged: A
  /** What the hold had before. */
  readonly reserved: A
}

export interface SettleHoldReply extends Settled {
  readonly outcome: SettleHoldOutcome
  readonly now: number
  /**
   * Set by the commit that settled the hold: what it charged in addition, one number per unit; for a late commit, all
   * of it. Absent if this call settled nothing, as in a repeat.
   */
  readonly added?: readonly number[] | undefined
  /** If something was added: the states of the rows of `quotas` after it; else empty. */
  readonly states: WindowStates
}

/** A subject's open holds, by its key in the first own layer. */
export interface ListHoldsRequest {
  readonly subject: Subject
}

/** An open hold. */
export interface HoldRecord {
  /** Index of the schema's category. Holds of unknown categories are left out. */
  readonly category: number
  readonly id: string
  readonly nonce: string
  readonly fingerprint: string
  /** What it has, unknown units included; `slots` is 1 if it has a slot. */
  readonly costs: Amounts
  /** When it was taken, epoch milliseconds. */
  readonly takenAt: number
  readonly endsAt: number
  /** Its row in the first own layer, by the schema's cells: pairs `[startedAt, amount]`, `[-1, 0]` for none. */
  readonly charged: readonly number[]
}

export interface ListHoldsReply {
  readonly now: number
  /** Earliest end first. */
  readonly holds: readonly HoldRecord[]
}

/** A hold that expired unsettled. */
export interface EndedHold {
  readonly category: string
  /** The subject's key in the first own layer. */
  readonly owner: string
  readonly fingerprint: string
  /** As in {@link HoldRecord}. */
  readonly costs: Amounts
  readonly endsAt: number
}

export interface SweepReply {
  /** Expired holds that this process has settled since the last call, at most 1,000. */
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
  /** Settles holds whose end has passed. Stores that don't wait for calls also do so by themselves. */
  sweep(): SweepReply
}

/** Like {@link SyncHolds}, for asynchronous stores. */
export interface AsyncHolds {
  extend(request: ExtendRequest): PromiseLike<HoldReply>
  grow(request: GrowRequest): PromiseLike<HoldReply>
  settle(request: SettleHoldRequest): PromiseLike<SettleHoldReply>
  list(request: ListHoldsRequest): PromiseLike<ListHoldsReply>
  sweep(): PromiseLike<SweepReply>
}
