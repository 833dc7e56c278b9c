import type { WindowStates } from '../decision/decide.ts'
import type { Quotas } from '../policy/limits.ts'
import type { Clock } from '../time/clock.ts'
import type { AsyncHolds, HoldOptions, SyncHolds } from './hold-port.ts'
import type { ReservationId, StoreSchema, Subject } from './schema.ts'

/** One decision to make and, if admitted, to charge. */
export interface TakeRequest {
  readonly subject: Subject
  /** Index of the schema's category. */
  readonly category: number
  readonly quotas: Quotas
  /**
   * One number per unit of the schema, then 1 if it takes a slot in every layer, else 0: safe integers of at least 0. A
   * slot only with {@link hold}. All 0 only with an id, which is remembered while no window opens. All requests of one
   * price share one array.
   */
  readonly costs: readonly number[]
  /**
   * Revision of the settings that `quotas` came from, `''` if nothing is stored. A store that knows another one answers
   * `stale`. Absent: no other process can change the engine's settings, so they are never stale.
   */
  readonly settingsRevision?: string | undefined
  readonly id?: ReservationId | undefined
  /**
   * Where the calendar windows stand: for each of them in each layer of `quotas` in turn, `[start, end, next end]`, two
   * periods in epoch milliseconds. The store's clock picks, and where it is in neither the answer is `stale`. The same array
   * for all requests whose periods are everybody's; one of its own where they are the subject's.
   */
  readonly periods?: readonly number[] | undefined
  /** Makes it a hold; only with an id. */
  readonly hold?: HoldOptions | undefined
}

/**
 * - `admitted`: fits in every window, and was charged in all of them at one instant (under an id: by this nonce, now
 *   or earlier).
 * - `refused`: does not fit in some window; nothing was written (but see rule 5 of the port).
 * - `duplicate`: the id was admitted before for another nonce; nothing was charged now.
 * - `cancelled`: the id was cancelled before; nothing was charged.
 * - `conflict`: the id was used for something else; nothing was charged.
 * - `stale`: other settings are in force, or the clock is outside of the periods; nothing was charged; ask again with
 *   those.
 * - `expired`: the hold under this id was this nonce's, and has ended.
 * - `too_many_holds`: the subject has as many open holds as it may; nothing was charged.
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
  /** The store's clock, epoch milliseconds. */
  readonly now: number
  /** The windows after the decision (`admitted`) or as they are (`refused`); else empty. */
  readonly states: WindowStates
  /** For `stale`: the revision that the store knows, `''` for none; absent if the periods are stale. */
  readonly settingsRevision?: string | undefined
  /** For a hold: when it expires, epoch milliseconds. */
  readonly endsAt?: number | undefined
}

/** Reads a subject's windows, of several categories together. */
export interface ReadRequest {
  readonly subject: Subject
  /** Indices of categories. */
  readonly categories: readonly number[]
  /** Indices of layers. */
  readonly layers: readonly number[]
  /** As in a take, for each of `layers` in turn. */
  readonly periods?: readonly number[] | undefined
}

export interface ReadReply {
  readonly now: number
  /** One state per requested category. */
  readonly states: readonly WindowStates[]
  /** The clock is outside the periods, so there are no states: repeat the call. */
  readonly isStale?: boolean | undefined
}

/** Settles a reservation: the amount to refund to the windows it came from. */
export interface SettleRequest {
  readonly subject: Subject
  readonly category: number
  /** Indices of the layers that were charged. */
  readonly layers: readonly number[]
  /** The states of the reply that admitted the reservation. Their starts determine which windows to refund. */
  readonly states: WindowStates
  /**
   * What to refund, one number per unit of the schema: safe integers of at most the cost. Below 0: what was spent
   * during an outage, added regardless of the limits.
   */
  readonly refunds: readonly number[]
  readonly as: 'committed' | 'cancelled'
  /** Set if the reservation was made under an id. */
  readonly id?: ReservationId | undefined
}

/** Windows to close. */
export interface ResetRequest {
  readonly subject: Subject
  readonly categories: readonly number[]
  readonly layers: readonly number[]
}

/**
 * Counters of one schema, live. What every store promises, and the conformance suite of `@scoregw/quota-testkit` asks:
 *
 * 1. `take` is one atomic decision: charged in every cell of every applying layer at one instant, or in none; slots are
 *    one more unit. A cell whose unit costs 0 is neither checked nor written, regardless of its limit.
 * 2. A rolling window is `[startedAt, startedAt + lengthMs)`. It opens with the first admitted request, at
 *    `max(now, previous startedAt + 1)`, so that a start identifies a window, also after a reset. A calendar window opens
 *    at `max(start of the period, previous startedAt + 1)`, and is open while it starts no earlier than the period that the
 *    clock is in.
 *    A bucket is `[start, used]`, and is charged where `used - back + cost` is at most its limit, with
 *    `back = floor((now - start) * rate / per)`. It opens as a rolling window. It is over when `back >= used` and
 *    `now > start`, and two `per` after its start. A charge at `per` or more after its start first moves that by `per`, and
 *    `used` by the rate. Replies have the cells as they are.
 * 3. `settle` gives back, unit by unit, only to windows with the same start, and never below 0.
 * 4. Under an id: one charge for the first nonce; a repeat by the same nonce gets the stored answer, by another
 *    `duplicate`, with another fingerprint `conflict`. `settle` counts only from the nonce that reserved, and once;
 *    cancelling an unknown id marks it cancelled, so that a delayed reserve cannot charge.
 * 5. The store's clock decides. A clock that steps back leaves windows open: `now < startedAt` counts as inside. A
 *    window that is open and starts more than 5 s in the future is moved to `now + 1`, keeping what was used; of all that
 *    a refusal leaves alone, this is the one thing it may write.
 * 6. State is forgotten only when all its windows are over. Where there is no room for new state, `take` throws
 *    `store_full`.
 * 7. Counters are recognised by name: those of other schemas on the same store, at the same time or before, are the same
 *    counters where layer, category and identity of the limit (its unit is a part of it) are the same, and are left alone
 *    where they are not.
 * 8. `reset` closes windows and leaves slots, which only the ends of holds give back.
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

/** What a store supports besides rolling windows. An engine rejects policies and requests that need more. */
export interface StoreAbilities {
  /** Token buckets. */
  readonly bucket?: boolean | undefined
  /** Calendar windows. */
  readonly calendar?: boolean | undefined
  /** Holds: `TakeRequest.hold`, and the counters' `holds`. */
  readonly holds?: boolean | undefined
  /** Concurrency limits: in layers that aren't shared (`own`), or in `all`. Needs {@link holds}. */
  readonly concurrency?: 'own' | 'all' | undefined
  /** Whether an overrun may `fit`: it is charged as far as every window has room. */
  readonly fit?: boolean | undefined
}

/** Stores counters and answers synchronously. Its answers are not checked for promises. */
export interface SyncStore {
  readonly sync: true
  /** @default it supports rolling windows only */
  readonly can?: StoreAbilities | undefined
  /**
   * The clock of this process that it reads. An engine without a clock uses it too.
   *
   * @default none: it uses the engine's, see `open`, or another source
   */
  readonly clock?: Clock | undefined
  /**
   * Where it keeps its counters: server, database and prefix, as text that is equal for stores that share them.
   *
   * @default unknown: only the same object shares them
   */
  readonly place?: string | undefined
  /**
   * Counters for a schema. Several can be open at the same time.
   *
   * @param clock the engine's, for a store without a clock that reads the time in this process
   */
  open(schema: StoreSchema, clock?: Clock): SyncCounters
  /** Closes everything. */
  close?(): void | PromiseLike<void>
}

/** Stores counters and answers asynchronously, with anything that can be awaited. */
export interface AsyncStore {
  readonly sync: false
  /** @default it supports rolling windows only */
  readonly can?: StoreAbilities | undefined
  /**
   * The deadline of every call in milliseconds, if the store keeps one itself.
   *
   * @default the engine keeps its own
   */
  readonly deadlineMs?: number | undefined
  /**
   * Set while the first connection is being made and nothing has failed yet; resolves when either is over. Deadlines of
   * calls start after that.
   *
   * @default connecting counts in the deadline
   */
  readonly opening?: PromiseLike<void> | undefined
  /**
   * The clock of this process that it reads. An engine without a clock uses it too.
   *
   * @default none: it uses the engine's, see `open`, or another source
   */
  readonly clock?: Clock | undefined
  /**
   * Where it keeps its counters: server, database and prefix, as text that is equal for stores that share them.
   *
   * @default unknown: only the same object shares them
   */
  readonly place?: string | undefined
  /**
   * Counters for a schema. Several can be open at the same time.
   *
   * @param clock the engine's, for a store without a clock that reads the time in this process
   */
  open(schema: StoreSchema, clock?: Clock): AsyncCounters
  /**
   * The same counters inside the caller's transaction on the same database. Their charges count once it commits, and
   * never if it rolls back. It keeps its locks until its end.
   *
   * @param transaction the database client's kind of transaction
   * @throws {QuotaError} `invalid_options` if the value isn't a transaction
   */
  within?(schema: StoreSchema, transaction: unknown): AsyncCounters
  /** Closes everything. */
  close?(): void | PromiseLike<void>
}

export type QuotaStore = SyncStore | AsyncStore
export type Counters = SyncCounters | AsyncCounters

/**
 * A port's answer: direct if it is declared `sync: true`, else a promise or anything else that can be awaited. The
 * declaration determines which, never the answer.
 */
export type Answer<T> = T | PromiseLike<T>

/**
 * Awaits an answer according to its declaration, and returns it in a box: a synchronous store's answer is a value even
 * if it has a `then`.
 */
export async function boxed<T>(
  { sync }: { readonly sync: boolean },
  answer: Answer<T>,
): Promise<{ readonly value: T }> {
  return { value: sync ? (answer as T) : await answer }
}

/** The same in every copy of this library. */
const NOT_DONE = Symbol.for('@scoregw/quota/not-done')

/** Marks a store's error as one after which certainly nothing was carried out, so that the call can be repeated. */
export function notDone<E extends object>(error: E): E {
  Object.defineProperty(error, NOT_DONE, { value: true })
  return error
}

/** Whether certainly nothing was carried out. For most errors that is unknown. */
export function isNotDone(error: unknown): boolean {
  return typeof error === 'object' && error !== null && NOT_DONE in error
}
