import type { KindName } from '@scoregw/quota/store'
import type { Counting, LabelIn, LayerIn, Limit, OneUnit, Threshold } from './policy.ts'

/** The kind of a limit, as decisions name it. */
export type LimitKind = KindName

/** One limit: what it allows, what is used, and when it ends. */
export interface WindowStatus<C extends Counting = OneUnit> {
  /** The layer's name in the policy, for example `personal`. */
  readonly layer: LayerIn<C['names']>
  /** The layer's name for people, for example `Personal`. */
  readonly scope: string
  readonly category: C['names']['category']
  /** The limit's label, for example `1h`. */
  readonly window: LabelIn<C['names']>
  readonly kind: LimitKind
  /** The unit that it counts. Present if the policy names its units. */
  readonly unit?: C['unit'] | 'slots'
  /** How long the window lasts, in milliseconds; for a calendar window, its current period. `null` for concurrency. */
  readonly lengthMs: number | null
  /**
   * The effective limit in tokens or the named unit; for concurrency in slots. A bucket refills by this amount per
   * {@link lengthMs}.
   */
  readonly limit: Limit
  /** The most tokens that a bucket can hold. Present for buckets. */
  readonly burst?: Limit
  /**
   * Tokens used in the window, 0 if it isn't open; for concurrency, the slots taken. Tokens that have returned to a
   * bucket don't count. May exceed the limit after it was lowered.
   */
  readonly used: number
  /** Remaining tokens or slots, never negative; for a bucket, what remains of its burst. */
  readonly remaining: Limit
  /**
   * When the window opened, with its first admitted request, epoch milliseconds; for a calendar window the start of the
   * period. `null` if it isn't open, and for concurrency. For a bucket, the instant from which it refills.
   */
  readonly startedAt: number | null
  /**
   * When the window ends, epoch milliseconds; `null` if it isn't open (calendar windows always end), and for
   * concurrency. For a bucket, when it is full again.
   */
  readonly resetAt: number | null
  /** `false`: the limit is shadowed, so it is charged but refuses no request. */
  readonly enforced: boolean
}

/** A window of a decision without counters. Only its limit is known. */
export interface UncountedWindow<C extends Counting = OneUnit>
  extends Omit<WindowStatus<C>, 'used' | 'remaining' | 'startedAt' | 'resetAt'> {
  readonly used: null
  readonly remaining: null
  readonly startedAt: null
  readonly resetAt: null
}

/** One window that refuses a request, and why. */
export interface Violation<C extends Counting = OneUnit> {
  readonly layer: LayerIn<C['names']>
  readonly scope: string
  readonly category: C['names']['category']
  readonly window: LabelIn<C['names']>
  readonly kind: LimitKind
  /** See {@link WindowStatus}. */
  readonly unit?: C['unit'] | 'slots'
  /** See {@link WindowStatus}. */
  readonly lengthMs: number | null
  /** The effective limit in tokens or the named unit; for concurrency in slots. */
  readonly limit: number
  /** See {@link WindowStatus}. */
  readonly burst?: number
  /** Tokens used in the window, 0 if it isn't open; for concurrency the slots taken. */
  readonly used: number
  /** How much the refused request needed in this unit; for concurrency 1. */
  readonly requested: number
  /**
   * When the window ends, in epoch milliseconds. If it isn't open, when it would end if it opened now. For a bucket,
   * when enough has refilled. For concurrency, one second from now, because it is unknown when a slot is freed.
   */
  readonly resetAt: number
  /** `false`: the limit itself is below the cost, so waiting won't help. */
  readonly retryable: boolean
}

/**
 * Where the decision comes from. `store`: all counters were read. `fallback`: the store was unavailable, and the
 * failure policy decided. `free`: the request costs nothing, so no counter was read.
 */
export type DecisionSource = 'store' | 'fallback' | 'free'

interface DecisionBase<C extends Counting> {
  /** Who made the request: a string, or a key per layer. */
  readonly subject: C['names']['subject']
  readonly operation: string
  readonly category: C['names']['category']
  /** The request's cost: tokens, or amounts by unit. */
  readonly cost: C['amount']
  /** When it was decided, in epoch milliseconds of the store's clock. */
  readonly now: number
  /** The version of the settings that decided it. */
  readonly settingsVersion: number
  readonly source: DecisionSource
  /**
   * Shadowed limits that would have refused the request, in the policy's order, with their counts before it. `resetAt`
   * is the end of the windows that were charged. Usually empty.
   */
  readonly shadowed: readonly Violation<C>[]
  /**
   * All applying limits after the decision, in the policy's order. Without counters, the counts are `null`: whenever
   * `source` isn't `store`.
   */
  readonly windows: readonly (WindowStatus<C> | UncountedWindow<C>)[]
}

/** The request may proceed. Its cost is charged in every window. */
export interface AdmittedDecision<C extends Counting = OneUnit> extends DecisionBase<C> {
  readonly allowed: true
  /**
   * Returns a complete plain copy. A decision computes rarely used members, such as `windows`, on access. `{
   * ...decision }` and `structuredClone(decision)` lack them; `decision.toJSON()` has them.
   */
  toJSON(): Omit<AdmittedDecision<C>, 'toJSON'>
}

/** The request must not proceed. Nothing was charged. */
export interface RefusedDecision<C extends Counting = OneUnit> extends DecisionBase<C> {
  readonly allowed: false
  readonly windows: readonly WindowStatus<C>[]
  /** Every limit that refuses, in the policy's order; at least one. */
  readonly violations: readonly Violation<C>[]
  /** The violation to report: see `bindingViolation()`. */
  readonly binding: Violation<C>
  /** `false`: some limit is below the cost, so waiting won't help. */
  readonly retryable: boolean
  /** When the binding window ends, epoch milliseconds. */
  readonly resetAt: number
  /** Milliseconds until `resetAt`, at least 1. */
  readonly retryAfterMs: number
  /** `max(1, ceil((resetAt - now) / 1000))`. */
  readonly retryAfterSeconds: number
  /** Returns a complete plain copy; see {@link AdmittedDecision}. */
  toJSON(): Omit<RefusedDecision<C>, 'toJSON'>
}

/** The result of a request, from all windows of all applying layers. */
export type Decision<C extends Counting = OneUnit> = AdmittedDecision<C> | RefusedDecision<C>

/** One request for tokens. */
export interface QuotaRequest<Operation extends string = string, C extends Counting = OneUnit> {
  /**
   * Who makes the request: a string, or an object with a key per layer if several layers aren't shared. Any text that
   * isn't empty. Keys above 200 bytes count by their SHA-256.
   */
  readonly subject: C['names']['subject']
  /** The name of one of the policy's operations. */
  readonly operation: Operation
  /**
   * The amount to charge, instead of the operation's price. The category stays. A whole number, 0 or more. If the
   * policy has several units: amounts by unit. Units that you leave out are charged at their price.
   *
   * @default the operation's price
   */
  readonly cost?: C['cost'] | undefined
  /**
   * The subject's plan, for example from the claims of its token. A plan in the subject's stored settings takes
   * precedence. With an unknown plan, the base limits apply, and the event `unknownPlan` reports it.
   */
  readonly plan?: C['names']['plan'] | undefined
  /** Stops the wait. If the request is admitted anyway, it is refunded. */
  readonly signal?: AbortSignal | undefined
}

/** A request that you settle by the outcome of its work. */
export interface ReserveRequest<Operation extends string = string, C extends Counting = OneUnit>
  extends QuotaRequest<Operation, C> {
  /**
   * Your own id of this attempt: 1 to 256 bytes, never text from a client. It makes retries safe: only the first caller
   * may do the work. Use an id for one subject, operation and cost. It is remembered for `idTtlMs` after its last use.
   */
  readonly id?: string | undefined
  /**
   * Makes the reservation a hold. It keeps tokens and slots for this many milliseconds of the store's clock, or until
   * you settle it. Then they are refunded. A whole number, from 1 to the engine's `maxTtlMs`.
   *
   * @default none: an unsettled reservation stays charged; operations that need a slot use the engine's `holdTtlMs`
   */
  readonly ttlMs?: number | undefined
}

/** The result of a commit: tokens, or amounts of each unit in the policy. */
export interface CommitResult<C extends Counting = OneUnit> {
  /** The amount that stays charged. */
  readonly charged: C['amount']
  /** The part of the actual cost that nobody pays, because it exceeds `overrun` and `maxOverrun`. */
  readonly uncharged: C['amount']
}

/** Calls of a reservation or of a resumed hold. */
export interface ReservationCalls<C extends Counting = OneUnit> {
  /**
   * The token to resume the hold in any process with the policy: see `quota.resume()`. Anyone who has it can settle the
   * hold, so keep it on your servers. `undefined`: not a hold.
   */
  readonly token: string | undefined
  /**
   * When the hold expires according to the store's last reply, in epoch milliseconds of the store's clock; `undefined`:
   * not a hold.
   */
  readonly endsAt: number | undefined
  /**
   * Settles after the work was done. Settles once: later calls do nothing, and calls in flight share one promise. If it
   * rejects, you may call it again if the reservation is a hold or has an id, or if the store certainly did nothing.
   *
   * @param actual the actual cost: tokens, or amounts by unit. The rest is refunded. It may only exceed the reserved
   * amount in holds of operations whose `overrun` is `charge` or `fit`. Default, also for units that you leave out: the
   * reserved amount
   * @throws {QuotaError} `commit_above_reservation`, `invalid_cost`; for a hold also `reservation_expired`,
   * `reservation_cancelled`
   */
  commit(actual?: C['cost']): Promise<CommitResult<C>>
  /** Refunds the tokens to the windows they came from, because the work wasn't done. Settles once. */
  cancel(): Promise<void>
  /**
   * Makes the hold expire this many milliseconds from now, unless it lasts longer anyway.
   *
   * @param ttlMs default: the hold's lifetime when it was reserved
   * @returns when the hold expires, in epoch milliseconds
   * @throws {QuotaError} `reservation_expired`, `hold_required`, `invalid_ttl`
   */
  extend(ttlMs?: number): Promise<number>
  /**
   * Grows the hold: charges more in all windows, or in none.
   *
   * @param cost tokens, or amounts by unit; units that you leave out don't grow
   * @returns the decision; if it refuses, the hold is unchanged
   * @throws {QuotaError} `reservation_expired`, `hold_required`, `invalid_cost`
   */
  add(cost: C['cost']): Promise<Decision<C>>
  /**
   * Extends the hold repeatedly until you call the returned function or settle the hold. Does nothing if it isn't a
   * hold.
   */
  keepAlive(): () => void
}

/**
 * A charged reservation. Commit the actual cost after the work, or cancel. If you do neither, it stays charged, unless
 * it is a hold.
 */
export interface HeldReservation<C extends Counting = OneUnit> extends ReservationCalls<C> {
  readonly status: 'reserved'
  readonly allowed: true
  readonly decision: AdmittedDecision<C>
}

/** A hold that another process, or this one earlier, reserved. */
export interface ResumedReservation<C extends Counting = OneUnit> extends ReservationCalls<C> {
  readonly status: 'resumed'
  readonly token: string
  readonly subject: C['names']['subject']
  readonly operation: string
}

/** A reservation without tokens. */
export interface EmptyReservation<C extends Counting = OneUnit> {
  readonly allowed: false
  /**
   * @throws {QuotaError} `commit_refused` for a refused reservation, whose work must not be done; other reservations
   * never throw
   */
  commit(actual?: C['cost']): Promise<CommitResult<C>>
  /** Does nothing, because there is nothing to refund. */
  cancel(): Promise<void>
}

/** The request does not fit. Nothing was charged. */
export interface RefusedReservation<C extends Counting = OneUnit> extends EmptyReservation<C> {
  readonly status: 'refused'
  readonly decision: RefusedDecision<C>
}

/**
 * Why this reservation must not do the work.
 *
 * - `duplicate`: another caller reserved with this id and does the work.
 * - `cancelled`: the id was cancelled and can't be used again.
 * - `expired`: it was this handle's hold, and it expired.
 */
export interface RepeatedReservation<C extends Counting = OneUnit> extends EmptyReservation<C> {
  readonly status: 'duplicate' | 'cancelled' | 'expired'
  readonly decision?: undefined
}

export type Reservation<C extends Counting = OneUnit> =
  | HeldReservation<C>
  | RefusedReservation<C>
  | RepeatedReservation<C>

/** A reservation of an engine with synchronous stores. */
export type SyncReservation<C extends Counting = OneUnit> =
  | Synchronous<HeldReservation<C>>
  | Synchronous<RefusedReservation<C>>
  | Synchronous<RepeatedReservation<C>>

/** The same with synchronous calls. */
type Synchronous<T> = {
  readonly [K in keyof T]: K extends 'keepAlive'
    ? T[K]
    : T[K] extends (...args: infer Args) => Promise<infer R>
      ? Method<Args, R>
      : T[K]
}

/**
 * Makes parameters compare like those of methods, so that an engine with specific units is assignable to one with any.
 */
type Method<Args extends unknown[], R> = { call(...args: Args): R }['call']

/** The result of {@link Quota.run}: the work's value, or why the work didn't run. */
export type RunResult<T, C extends Counting = OneUnit> =
  | { readonly allowed: true; readonly decision: AdmittedDecision<C>; readonly value: T }
  | { readonly allowed: false; readonly status: 'refused'; readonly decision: RefusedDecision<C> }
  | { readonly allowed: false; readonly status: RepeatedReservation['status']; readonly decision?: undefined }

/** The windows that apply to a subject, by category, in the policy's order. */
export interface QuotaStatus<C extends Counting = OneUnit> {
  readonly subject: C['names']['subject']
  /** When the status was read, in epoch milliseconds of the store's clock. */
  readonly now: number
  readonly settingsVersion: number
  readonly windows: Readonly<Record<C['names']['category'], readonly HeldWindowStatus<C>[]>>
}

/** A limit in a status. */
export interface HeldWindowStatus<C extends Counting = OneUnit> extends WindowStatus<C> {
  /**
   * The part of `used` that the subject's open holds may still refund. Present if above 0, in the first layer that
   * isn't shared.
   */
  readonly held?: number | undefined
}

/** Options of a peek. */
export interface PeekOptions {
  /**
   * Reports a refusal to listeners and metrics, as `consume` does. Set it if you refuse the request because of the
   * peek.
   *
   * @default false
   */
  readonly reportsRefusal?: boolean | undefined
}

/** Options of `quota.status()`. */
export interface StatusOptions<C extends Counting = OneUnit> {
  /** Like a request's `plan`. */
  readonly plan?: C['names']['plan'] | undefined
}

/**
 * A subject's open hold. `tokens` is its amount in every window. Policies with several units have `cost` instead, with
 * an amount per unit.
 */
export type Hold<C extends Counting = OneUnit> = C['held'] & {
  /** The hold's reference for `release`. */
  readonly ref: string
  readonly operation: string
  /** The operation's category; empty if the policy no longer has the operation. */
  readonly category: C['names']['category'] | ''
  /** Whether it has a slot. */
  readonly slot: boolean
  /** When it was reserved, epoch milliseconds. */
  readonly takenAt: number
  readonly endsAt: number
}

/** A hold that expired unsettled. The refunded amount is as in {@link Hold}. */
export type HoldEnd<C extends Counting = OneUnit> = C['held'] & {
  readonly operation: string
  /** See {@link Hold}. */
  readonly category: C['names']['category'] | ''
  /** The subject's key in the first layer that isn't shared. */
  readonly owner: string
  /** When it expired, epoch milliseconds. */
  readonly endsAt: number
}

/** A commit above its reservation. */
export interface QuotaOverrun<C extends Counting = OneUnit> extends CommitResult<C> {
  readonly subject: C['names']['subject']
  readonly operation: string
  readonly category: C['names']['category']
  /** The reserved amount. */
  readonly reserved: C['amount']
}

/** The windows that `reset` resets. */
export interface ResetOptions<C extends Counting = OneUnit> {
  /**
   * A layer's name. A shared layer is reset only if you name it.
   *
   * @default every layer that isn't shared
   */
  readonly layer?: LayerIn<C['names']> | undefined
  /** @default every category */
  readonly category?: C['names']['category'] | undefined
}

/** A final charge took a window or slots across a threshold of the limit. */
export interface NearLimit<C extends Counting = OneUnit> {
  readonly subject: C['names']['subject']
  /** The decision about the request whose charge made the crossing. */
  readonly decision: Decision<C>
  /** The window when the event is emitted. What open reservations hold is included. */
  readonly window: WindowStatus<C>
  readonly threshold: Threshold
}
