import type { WindowStates } from '../decision/decide.ts'
import type { Quotas } from '../policy/limits.ts'
import type { Clock } from '../time/clock.ts'
import type { AsyncHolds, HoldOptions, SyncHolds } from './hold-port.ts'
import type { ReservationId, StoreSchema, SubjectKeys } from './subjects.ts'

/** A decision to make, and to charge if it admits. */
export interface TakeRequest {
  readonly subject: SubjectKeys
  /** Which limits count it: an index of the schema's `sets`. */
  readonly set: number
  readonly quotas: Quotas
  /**
   * One number per unit of the schema, then 1 if it takes a slot in every layer, else 0. Safe integers of at least 0.
   * Slots need {@link hold}. All 0 needs an id, which is remembered although no window opens. All requests with one
   * price share one array.
   */
  readonly costs: readonly number[]
  /**
   * Revision of the settings behind `quotas`; `''`: nothing is stored. A store that knows a different one replies
   * `stale`. Absent: no other process can change the engine's settings, so they are never stale.
   */
  readonly settingsRevision?: string | undefined
  readonly id?: ReservationId | undefined
  /**
   * The periods of calendar windows: `[start, end, next end]` for each of them by position, whichever layers apply, two
   * periods in epoch milliseconds. The store's clock picks one. If it is outside both, the reply is `stale`. A store may
   * reply so, too, if it is outside those of a window that doesn't apply here. Requests with the calendar's periods share
   * one array. Those with a subject's periods have their own.
   */
  readonly periods?: readonly number[] | undefined
  /** Makes it a hold. Needs an id. */
  readonly hold?: HoldOptions | undefined
}

/**
 * - `admitted`: it fits in every window and was charged in all of them at one instant (with an id: for this nonce, now or
 *   earlier).
 * - `refused`: it doesn't fit in some window; nothing was written, except as in rule 5 of the port.
 * - `duplicate`: the id was already admitted for another nonce; nothing was charged.
 * - `cancelled`: the id was cancelled; nothing was charged.
 * - `conflict`: the id was used for something else; nothing was charged.
 * - `stale`: the settings have changed, or the clock is outside the periods; nothing was charged; repeat with current ones.
 * - `expired`: this nonce's hold with the id has expired.
 * - `too_many_holds`: the subject has the maximum number of open holds; nothing was charged.
 */
export type TakeOutcome =
  | 'admitted'
  | 'refused'
  | 'duplicate'
  | 'cancelled'
  | 'conflict'
  | 'stale'
  | 'expired'
  | 'too_many_holds'

export interface TakeReply {
  readonly outcome: TakeOutcome
  /** The store's time, in epoch milliseconds. */
  readonly now: number
  /** The windows after the decision (`admitted`), or unchanged (`refused`); otherwise empty. */
  readonly states: WindowStates
  /** For `stale`: the revision that the store knows, `''` for none. Absent if the periods are stale. */
  readonly settingsRevision?: string | undefined
  /** For a hold: when it expires, epoch milliseconds. */
  readonly endsAt?: number | undefined
}

/** Reads a subject's limits. */
export interface ReadRequest {
  readonly subject: SubjectKeys
  /** Which limits to read: an index of the schema's `sets`. */
  readonly set: number
  /** Indices of layers. */
  readonly layers: readonly number[]
  /** As in a take. */
  readonly periods?: readonly number[] | undefined
}

export interface ReadReply {
  readonly now: number
  readonly states: WindowStates
  /** The clock is outside the periods, so there are no states: repeat the call. */
  readonly isStale?: boolean | undefined
}

/** Settles a reservation: refunds amounts to the windows they came from. */
export interface SettleRequest {
  readonly subject: SubjectKeys
  /** As in the take. */
  readonly set: number
  /** Indices of the layers that were charged. */
  readonly layers: readonly number[]
  /** The states of the reply that admitted the reservation. Their starts determine which windows to refund. */
  readonly states: WindowStates
  /**
   * The refunds, one number per unit of the schema: safe integers of at most the cost. Below 0: an amount spent during
   * an outage, which is added regardless of the limits.
   */
  readonly refunds: readonly number[]
  readonly as: 'committed' | 'cancelled'
  /** Present if the reservation has an id. */
  readonly id?: ReservationId | undefined
}

/** Windows to close. */
export interface ResetRequest {
  readonly subject: SubjectKeys
  /** Positions of limits, in ascending order. */
  readonly limits: readonly number[]
}

/**
 * The counters of one schema. The contract, which the conformance suite of `@scoregw/quota-testkit` checks:
 *
 * 1. `take` is one atomic decision: it charges every limit of its set in every applying layer at one instant, or none.
 *    Slots are one more unit. A limit whose unit costs 0 is neither checked nor written. A layer without a limit in the
 *    set has no row.
 * 2. A rolling window is `[startedAt, startedAt + lengthMs)`. It opens with the first admitted request, at
 *    `max(now, previous startedAt + 1)`. So a start identifies a window, even after a reset. A calendar window opens at
 *    `max(start of the period, previous startedAt + 1)`. It is open while its start is not before the clock's current
 *    period.
 *    A bucket is `[start, used]`. It is charged if `used - back + cost` is at most its limit, with
 *    `back = floor((now - start) * rate / per)`. It opens like a rolling window. It ends when `back >= used` and
 *    `now > start`, or two `per` after its start. If at least one `per` has passed, a charge first moves the start by
 *    `per` and subtracts the rate from `used`. Replies contain the cells as stored.
 * 3. `settle` refunds, unit by unit, only to windows with the same start, and never below 0.
 * 4. With an id: one charge for the first nonce. A repeat with the same nonce gets the stored reply, with another nonce
 *    `duplicate`, with another fingerprint `conflict`. `settle` only works for the nonce that reserved, and once.
 *    Cancelling an unknown id marks it as cancelled, so that a delayed reserve can't charge.
 * 5. The store's clock decides. If it steps back, windows stay open: `now < startedAt` counts as inside. An open window
 *    that starts more than 5 s in the future is moved to `now + 1`, and keeps its use. Otherwise refusals write nothing.
 * 6. State is only deleted after all its windows have ended. Without room for new state, `take` throws `store_full`.
 * 7. Counters are matched by name. A schema shares the counters of other and earlier schemas on the store that have the
 *    same layer and limit identity, which includes the unit. It doesn't change any others.
 * 8. `reset` closes windows. Slots stay taken until their holds end.
 */
export interface SyncCounters {
  take(request: TakeRequest): TakeReply
  read(request: ReadRequest): ReadReply
  settle(request: SettleRequest): void
  reset(request: ResetRequest): void
  /** Present if the store {@link StoreAbilities.holds}. */
  readonly holds?: SyncHolds | undefined
}

/** Like {@link SyncCounters}, for asynchronous stores. */
export interface AsyncCounters {
  take(request: TakeRequest): PromiseLike<TakeReply>
  read(request: ReadRequest): PromiseLike<ReadReply>
  settle(request: SettleRequest): PromiseLike<void>
  reset(request: ResetRequest): PromiseLike<void>
  /** Present if the store {@link StoreAbilities.holds}. */
  readonly holds?: AsyncHolds | undefined
}

/** The abilities of a store besides rolling windows. An engine rejects policies and requests that need more. */
export interface StoreAbilities {
  /** Token buckets. */
  readonly bucket?: boolean | undefined
  /** Calendar windows. */
  readonly calendar?: boolean | undefined
  /** Holds: `TakeRequest.hold`, and the counters' `holds`. */
  readonly holds?: boolean | undefined
  /** Concurrency limits: in layers that aren't shared (`own`), or in `all`. Needs {@link holds}. */
  readonly concurrency?: 'own' | 'all' | undefined
  /** Whether an overrun can `fit`: it is charged as far as every window has room. */
  readonly fit?: boolean | undefined
  /** Schemas whose layers have different limits, or whose sets leave out limits of a layer. Without it, `open` throws. */
  readonly sets?: boolean | undefined
  /**
   * What to do about everything that isn't supported: the end of those errors.
   *
   * @default docs/guide/stores.md lists what each store supports
   */
  readonly remedy?: string | undefined
}

/** A synchronous store of counters. Its replies are not checked for promises. */
export interface SyncStore {
  readonly sync: true
  /** @default it supports rolling windows only */
  readonly can?: StoreAbilities | undefined
  /**
   * The clock of this process that the store reads. An engine without a clock uses it too.
   *
   * @default none: the store uses the engine's clock, see `open`, or another source
   */
  readonly clock?: Clock | undefined
  /**
   * Where the counters are stored: server, database and prefix. Stores that share counters must return the same text.
   *
   * @default unknown: only the same object shares its counters
   */
  readonly place?: string | undefined
  /**
   * Opens the counters of a schema. Several can be open at the same time.
   *
   * @param clock the engine's, for a store without a clock that reads the time in this process
   */
  open(schema: StoreSchema, clock?: Clock): SyncCounters
  /** Closes everything. */
  close?(): void | PromiseLike<void>
}

/** An asynchronous store of counters. It returns promises, or anything else that can be awaited. */
export interface AsyncStore {
  readonly sync: false
  /** @default it supports rolling windows only */
  readonly can?: StoreAbilities | undefined
  /**
   * The deadline of calls in milliseconds, if the store enforces one itself.
   *
   * @default the engine enforces its own
   */
  readonly deadlineMs?: number | undefined
  /**
   * Present during the first connection, until it succeeds or fails; then it resolves. Deadlines of calls start after
   * that.
   *
   * @default the deadline includes connecting
   */
  readonly opening?: PromiseLike<void> | undefined
  /**
   * The clock of this process that the store reads. An engine without a clock uses it too.
   *
   * @default none: the store uses the engine's clock, see `open`, or another source
   */
  readonly clock?: Clock | undefined
  /**
   * Where the counters are stored: server, database and prefix. Stores that share counters must return the same text.
   *
   * @default unknown: only the same object shares its counters
   */
  readonly place?: string | undefined
  /**
   * Opens the counters of a schema. Several can be open at the same time.
   *
   * @param clock the engine's, for a store without a clock that reads the time in this process
   */
  open(schema: StoreSchema, clock?: Clock): AsyncCounters
  /**
   * Opens the counters in the caller's transaction on the same database. Charges count once it commits, and never if it
   * rolls back. The transaction keeps its locks until its end.
   *
   * @param transaction of the database client
   * @throws {QuotaError} `invalid_options` if the value isn't a transaction
   */
  inTransaction?(schema: StoreSchema, transaction: unknown): AsyncCounters
  /** Closes everything. */
  close?(): void | PromiseLike<void>
}

export type QuotaStore = SyncStore | AsyncStore
export type Counters = SyncCounters | AsyncCounters

/**
 * The return value of a port: a direct value if it declares `sync: true`, otherwise a promise or anything else that can
 * be awaited. Only the declaration matters, never the value.
 */
export type Answer<T> = T | PromiseLike<T>

/**
 * Awaits a value according to the port's declaration, and returns it in a box. A synchronous store's value may have a
 * `then`.
 */
export async function boxed<T>(
  { sync }: { readonly sync: boolean },
  answer: Answer<T>,
): Promise<{ readonly value: T }> {
  return { value: sync ? (answer as T) : await answer }
}

/** All copies of this library share this symbol. */
const NOT_DONE = Symbol.for('@scoregw/quota/not-done')

/** Marks an error: the store certainly did nothing, so the call can be repeated. */
export function notDone<E extends object>(error: E): E {
  Object.defineProperty(error, NOT_DONE, { value: true })
  return error
}

/** Whether the store certainly did nothing. For most errors, that is unknown. */
export function isNotDone(error: unknown): boolean {
  return typeof error === 'object' && error !== null && NOT_DONE in error
}
