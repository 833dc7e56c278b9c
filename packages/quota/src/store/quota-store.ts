import type { WindowStates } from '../decision/decide.ts'
import type { Quotas } from '../policy/limits.ts'
import type { Clock } from '../time/clock.ts'
import type { AsyncHolds, HoldOptions, SyncHolds } from './hold-port.ts'
import type { ReservationId, StoreSchema, Subject } from './schema.ts'

/** One decision to be made and, if admitted, charged. */
export interface TakeRequest {
  readonly subject: Subject
  /** Index into the schema's categories. */
  readonly category: number
  readonly quotas: Quotas
  /**
   * One number for each of the schema's units, and behind them 1 where it takes a slot in every layer, else 0: safe integers
   * of at least 0. A slot only with {@link hold}; all 0 only under an id, which is remembered while no window opens. The same
   * array for all requests of one price.
   */
  readonly costs: readonly number[]
  /**
   * Revision of the settings that `quotas` came from, `''` where nothing is stored. A store that knows another one
   * answers `stale`. Absent: the engine follows no settings that others could change, and is never stale.
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
  /** Of `stale`: the revision that the store knows, `''`: none; absent where it is the periods that are stale. */
  readonly settingsRevision?: string | undefined
  /** Of a hold: when it ends, epoch milliseconds. */
  readonly endsAt?: number | undefined
}

/** A read of the windows of a subject; several categories together. */
export interface ReadRequest {
  readonly subject: Subject
  /** Indices of categories. */
  readonly categories: readonly number[]
  /** Indices of layers. */
  readonly layers: readonly number[]
  /** As of a take, for each of `layers` in turn. */
  readonly periods?: readonly number[] | undefined
}

export interface ReadReply {
  readonly now: number
  /** One state for each category requested. */
  readonly states: readonly WindowStates[]
  /** The clock is outside of the periods, and there are no states: ask again. */
  readonly isStale?: boolean | undefined
}

/** The end of a reservation: the amount to give back to the windows that it came from. */
export interface SettleRequest {
  readonly subject: Subject
  readonly category: number
  /** Indices of the layers that were charged. */
  readonly layers: readonly number[]
  /** The states of the reply that admitted the reservation; their starts say which windows to refund. */
  readonly states: WindowStates
  /**
   * What goes back, one number for each of the schema's units: safe integers of at most the cost. Below 0: what was spent
   * while the store did not answer, to be added regardless of the limits.
   */
  readonly refunds: readonly number[]
  readonly as: 'committed' | 'cancelled'
  /** Present when the reservation was made under an id. */
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
  /** There where the store {@link StoreAbilities.holds}. */
  readonly holds?: SyncHolds | undefined
}

/** As {@link SyncCounters}, for stores that answer later. */
export interface AsyncCounters {
  take(request: TakeRequest): PromiseLike<TakeReply>
  read(request: ReadRequest): PromiseLike<ReadReply>
  settle(request: SettleRequest): PromiseLike<void>
  reset(request: ResetRequest): PromiseLike<void>
  /** There where the store {@link StoreAbilities.holds}. */
  readonly holds?: AsyncHolds | undefined
}

/** What a store can beside rolling windows. An engine refuses a policy or request that requests more. */
export interface StoreAbilities {
  /** Token buckets. */
  readonly bucket?: boolean | undefined
  /** Calendar windows. */
  readonly calendar?: boolean | undefined
  /** Holds: `TakeRequest.hold`, and the counters' `holds`. */
  readonly holds?: boolean | undefined
  /** Limits of concurrency: in layers of each subject's own, or in `all`. Needs {@link holds}. */
  readonly concurrency?: 'own' | 'all' | undefined
  /** Whether an overrun may be `fit`: charged as far as every window has room. */
  readonly fit?: boolean | undefined
}

/** Where counters live, answering synchronously: no answer is checked for being a promise. */
export interface SyncStore {
  readonly sync: true
  /** @default it knows rolling windows alone */
  readonly can?: StoreAbilities | undefined
  /**
   * The clock of this process that it reads; the engine uses it too, where it has none of its own.
   * @default none: it takes the engine's, see `open`, or has the time from elsewhere
   */
  readonly clock?: Clock | undefined
  /**
   * Where it keeps its counters: server, database and prefix, in a text that is the same for stores that share them.
   * @default nothing is known of that: only the same object shares them
   */
  readonly place?: string | undefined
  /**
   * Counters for a schema. Several may be open together.
   * @param clock the engine's, for a store that reads the time in this process and was given no clock
   */
  open(schema: StoreSchema, clock?: Clock): SyncCounters
  /** Leaves nothing open. */
  close?(): void | PromiseLike<void>
}

/** Where counters live, answering later. What it answers may be anything that can be awaited. */
export interface AsyncStore {
  readonly sync: false
  /** @default it knows rolling windows alone */
  readonly can?: StoreAbilities | undefined
  /**
   * Within how many milliseconds every call is answered or rejected, by the store itself.
   * @default it keeps no time: the engine does
   */
  readonly deadlineMs?: number | undefined
  /**
   * There while the first connection is being made and nothing has failed yet; resolves when either is over. Deadlines of
   * calls count from then on.
   * @default connecting counts in the deadline
   */
  readonly opening?: PromiseLike<void> | undefined
  /**
   * The clock of this process that it reads; the engine uses it too, where it has none of its own.
   * @default none: it takes the engine's, see `open`, or has the time from elsewhere
   */
  readonly clock?: Clock | undefined
  /**
   * Where it keeps its counters: server, database and prefix, in a text that is the same for stores that share them.
   * @default nothing is known of that: only the same object shares them
   */
  readonly place?: string | undefined
  /**
   * Counters for a schema. Several may be open together.
   * @param clock the engine's, for a store that reads the time in this process and was given no clock
   */
  open(schema: StoreSchema, clock?: Clock): AsyncCounters
  /**
   * The same counters as a part of a transaction of the caller's on the same database: what they charge is charged when that
   * is committed, and never if it is not. Its locks last as long as it does.
   *
   * @param transaction what the database's client calls one
   * @throws {QuotaError} `invalid_options` for a value that is none
   */
  within?(schema: StoreSchema, transaction: unknown): AsyncCounters
  /** Leaves nothing open. */
  close?(): void | PromiseLike<void>
}

export type QuotaStore = SyncStore | AsyncStore
export type Counters = SyncCounters | AsyncCounters

/**
 * The answer of a port: at once where it is declared `sync: true`, else by a promise or anything else that can be
 * awaited. Which of the two it is follows the declaration, never the answer.
 */
export type Answer<T> = T | PromiseLike<T>

/**
 * Waits for an answer by the declared kind of who gave it. It comes in a box: what a store that answers synchronously gave is a
 * value, also where it has a `then`.
 */
export async function boxed<T>(
  { sync }: { readonly sync: boolean },
  answer: Answer<T>,
): Promise<{ readonly value: T }> {
  return { value: sync ? (answer as T) : await answer }
}

/** The same in every copy of this library. */
const NOT_DONE = Symbol.for('@scoregw/quota/not-done')

/** Marks a store's error as one that says for certain that nothing was carried out, so that the call may be made again. */
export function notDone<E extends object>(error: E): E {
  Object.defineProperty(error, NOT_DONE, { value: true })
  return error
}

/** Whether an error says for certain that nothing was carried out; most cannot. */
export function isNotDone(error: unknown): boolean {
  return typeof error === 'object' && error !== null && NOT_DONE in error
}
