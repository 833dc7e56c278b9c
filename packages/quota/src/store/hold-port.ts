import type { WindowStates } from '../decision/decide.ts'
import type { Quotas } from '../policy/limits.ts'
import type { Amounts } from '../windows/identity.ts'
import type { ReservationId, SubjectKeys } from './subjects.ts'

/** Makes a reservation a hold: it keeps its charge and its slots until it is settled or expires. */
export interface HoldOptions {
  /** The hold expires this many milliseconds after it was taken, by the store's clock. */
  readonly ttlMs: number
  /** The most open holds per subject: by its key in the first layer that isn't shared. */
  readonly maxHolds: number
}

/** Identifies a hold by its id and its holder. */
export interface HoldRef {
  readonly subject: SubjectKeys
  readonly id: ReservationId
}

/** Moves a hold's expiry to `max(end, now + ttlMs)`. */
export interface ExtendRequest extends HoldRef {
  readonly ttlMs: number
}

/** Grows a hold: charges more in the windows open now, in all of them or in none. */
export interface GrowRequest extends HoldRef {
  /** As in a take. */
  readonly set: number
  /** As in a take, above 0 in some unit. Slots are 0, because a hold takes them at the start. */
  readonly costs: readonly number[]
  /** The current limits and layers. */
  readonly quotas: Quotas
  /** As in a take. */
  readonly periods?: readonly number[] | undefined
  /** As in a take. */
  readonly settingsRevision?: string | undefined
}

/**
 * - `held`: done; the hold is open.
 * - `refused`: the growth doesn't fit; nothing was written, except as in rule 5 of the port.
 * - `expired`: it expired earlier; its tokens were refunded.
 * - `settled`: it was committed or cancelled earlier.
 * - `unknown`: the hold doesn't exist, or has another holder.
 * - `stale`: as in a take.
 */
type HoldOutcome = 'held' | 'refused' | 'expired' | 'settled' | 'unknown' | 'stale'

export interface HoldReply {
  readonly outcome: HoldOutcome
  /** The store's time, in epoch milliseconds. */
  readonly now: number
  /** For `held`: when it expires, epoch milliseconds. */
  readonly endsAt?: number | undefined
  /** For a growth that is `held` or `refused`: the states of the rows of `quotas` after it; otherwise empty. */
  readonly states: WindowStates
  readonly settingsRevision?: string | undefined
}

/** Decides about an actual cost above the reserved amount. */
export type Overrun = 'refuse' | 'charge' | 'fit'

/** Settles a hold for its holder. */
export interface SettleHoldRequest extends HoldRef {
  readonly as: 'committed' | 'cancelled'
  /**
   * The actual cost, one number per unit of the schema; `undefined` for a unit: what the hold has.
   *
   * @default what the hold has
   */
  readonly actual?: readonly (number | undefined)[] | undefined
  /**
   * What happens to an actual cost above the hold: it is refused, charged regardless of the limits, or charged as far
   * as it fits.
   */
  readonly overrun: Overrun
  /** The most that one commit may charge above the hold, one number per unit. The rest is `uncharged`. */
  readonly maxOverrun: readonly number[]
  /** As in a take, for the additional charge. */
  readonly set: number
  /** The current limits and layers, for the additional charge. */
  readonly quotas: Quotas
  /** As in a take. */
  readonly periods?: readonly number[] | undefined
}

/**
 * - `settled`: done now, or earlier by the same holder, who gets the same result.
 * - `above`: the actual cost is above the hold, and `overrun` refuses it; nothing was done, and the hold is unchanged.
 * - `expired`: it expired earlier and can't be charged any more; nothing was charged.
 * - `cancelled`: a commit after a cancel; nothing was charged.
 * - `unknown`: the hold doesn't exist, or has another holder; nothing was charged.
 * - `stale`: the store's clock is outside the periods; repeat the call. The revision isn't checked.
 */
export type SettleHoldOutcome = 'settled' | 'above' | 'expired' | 'cancelled' | 'unknown' | 'stale'

/** The result of a commit, one number per unit of the schema; all 0 if it charged nothing. */
export interface Settled<A = readonly number[]> {
  /** The total that stays charged. */
  readonly charged: A
  /** The part of the actual cost that wasn't charged. */
  readonly uncharged: A
  /** The hold's amount before the commit. */
  readonly reserved: A
}

export interface SettleHoldReply extends Settled {
  readonly outcome: SettleHoldOutcome
  readonly now: number
  /**
   * What this commit charged in addition, one number per unit; for a late commit, everything. Present if this call
   * settled the hold, so absent in a repeat.
   */
  readonly added?: readonly number[] | undefined
  /** If something was added: the states of the rows of `quotas` after it; otherwise empty. */
  readonly states: WindowStates
}

/** Lists a subject's open holds, by its key in the first layer that isn't shared. */
export interface ListHoldsRequest {
  readonly subject: SubjectKeys
}

/** An open hold. */
export interface HoldRecord {
  readonly id: string
  readonly nonce: string
  readonly fingerprint: string
  /** Its amounts, including unknown units. `slots` is 1 if it has a slot. */
  readonly costs: Amounts
  /** When it was taken, epoch milliseconds. */
  readonly takenAt: number
  readonly endsAt: number
  /**
   * Its charges in the layers of its owner's keys: a pair `[startedAt, amount]` for each limit by position; `[-1, 0]`: none.
   */
  readonly charged: readonly number[]
}

export interface ListHoldsReply {
  /** By expiry, the earliest first. */
  readonly holds: readonly HoldRecord[]
}

/** A hold that expired unsettled. */
export interface EndedHold {
  /** The subject's key in the first layer that isn't shared. */
  readonly owner: string
  readonly fingerprint: string
  /** As in {@link HoldRecord}. */
  readonly costs: Amounts
  readonly endsAt: number
}

export interface SweepReply {
  /** Expired holds that this process has settled since the last call, at most 1,000. */
  readonly ended: readonly EndedHold[]
  /** The number of open holds of all subjects. */
  readonly open: number
}

/**
 * Holds of a store. A take with {@link HoldOptions} makes one. Its record is kept while the hold is open, and then for at
 * least `id.ttlMs`. The contract:
 *
 * 1. A hold expires when the store's clock passes `endsAt`. Its tokens return to the windows they came from, its slots are
 *    freed, and its record says `expired`. This happens exactly once, never early, and at most 1 s late. Any call that
 *    finds an expired hold settles it first, in the same step. A clock that steps back revives nothing.
 * 2. Refunds only go to cells with the start that was charged, slots included. Settling follows the record, whichever
 *    layers apply now. The record names units. If the schema of a commit lacks a unit, that unit stays charged.
 * 3. A commit above the hold in some unit charges the excess to the windows open then, in one step with settling. A commit
 *    after expiry charges `min(actual, what the hold had + maxOverrun)` for each unit as a new charge, if `overrun` is
 *    `charge` and the record exists; otherwise it is `expired`. A repeat by the same holder gets the recorded result,
 *    without `added`, and charges nothing. `fit` fits each unit separately.
 * 4. Cancelling an unknown id marks it as cancelled, as `settle` does. Cancelling after expiry does nothing (`settled`).
 * 5. After expiry, a repeated take by the same holder is `expired`, by another one `duplicate`.
 * 6. A row is kept at least until the last hold with a slot in it ends.
 */
export interface SyncHolds {
  extend(request: ExtendRequest): HoldReply
  grow(request: GrowRequest): HoldReply
  settle(request: SettleHoldRequest): SettleHoldReply
  list(request: ListHoldsRequest): ListHoldsReply
  /** Settles expired holds. Stores that run between calls also do this by themselves. */
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
