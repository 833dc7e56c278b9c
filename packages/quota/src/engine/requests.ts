import type { AdmittedDecision, Decision, RefusedDecision, WindowStatus } from '../decision/decision.ts'
import type { Threshold } from '../policy/settings.ts'
import type { Counting, LayerIn } from '../policy/units.ts'

/** One request for tokens. */
export interface QuotaRequest<Operation extends string = string, C extends Counting = Counting> {
  /** Who asks: a string; with several layers that are not shared an object with a key for each. Any text of 1 to 256 bytes. */
  readonly subject: C['names']['subject']
  /** A name from the policy's operations. */
  readonly operation: Operation
  /**
   * Tokens needed instead of the operation's price, never in another category. A whole number, 0 or more. Where the policy
   * has several units, amounts by unit: those that it does not name are needed at their price.
   * @default the operation's price
   */
  readonly cost?: C['cost'] | undefined
  /**
   * The subject's plan, for example from the claims of its token. A plan in the subject's stored settings comes first; one
   * that does not exist follows the base limits, and is reported by the event `unknownPlan`.
   */
  readonly plan?: C['names']['plan'] | undefined
  /** Gives up waiting; what was admitted meanwhile is given back. */
  readonly signal?: AbortSignal | undefined
}

/** A request whose tokens are settled by the outcome of the work. */
export interface ReserveRequest<Operation extends string = string, C extends Counting = Counting>
  extends QuotaRequest<Operation, C> {
  /**
   * The server's own id of this attempt (1 to 256 bytes, never one from a client), which makes repeats harmless: only
   * the first may do the work. It belongs to one subject, operation and cost, and is kept `idTtlMs` after its last use.
   */
  readonly id?: string | undefined
  /**
   * Makes the reservation a hold: tokens and slots are its own until it is settled, or until so many milliseconds have
   * passed by the store's clock; then they go back by themselves. A whole number, 1 to the engine's `maxTtlMs`.
   * @default none, so that what no caller settles stays charged; for operations that need a slot the engine's `holdTtlMs`
   */
  readonly ttlMs?: number | undefined
}

/** What a commit came to: tokens, or amounts of each unit that the policy has. */
export interface CommitResult<C extends Counting = Counting> {
  /** What stays charged. */
  readonly charged: C['amount']
  /** What the work cost and nobody was charged for: it was above what `overrun` and `maxOverrun` allow. */
  readonly uncharged: C['amount']
}

/** The calls that a reservation and a hold taken up elsewhere have in common. */
export interface ReservationCalls<C extends Counting = Counting> {
  /**
   * Names the hold in any process of the policy: see `quota.resume()`. Anyone who has it can settle the hold, so keep
   * it on servers. `undefined`: no hold.
   */
  readonly token: string | undefined
  /** When the hold ends, epoch milliseconds by the store's clock, as last heard; `undefined`: no hold. */
  readonly endsAt: number | undefined
  /**
   * The work was done. Settles once; later calls do nothing, and calls meanwhile share its promise. Where it rejects and
   * it is certain that nothing was done, or the reservation is a hold or has an id, it may be called again.
   *
   * @param actual what it cost: tokens, or amounts by unit; the rest goes back. Above the reserved amount only for
   * holds of operations whose `overrun` is `charge` or `fit`. Default, also of units that it does not name: all that is
   * reserved
   * @throws {QuotaError} `commit_above_reservation`, `invalid_cost`; of a hold `reservation_expired`, `reservation_cancelled`
   */
  commit(actual?: C['cost']): Promise<CommitResult<C>>
  /** The work was not done: the tokens go back to the windows they came from. Settles once. */
  cancel(): Promise<void>
  /**
   * Moves the end of the hold to so many milliseconds from now, if that is later.
   *
   * @param ttlMs default: as it was reserved for
   * @returns when it ends then, epoch milliseconds
   * @throws {QuotaError} `reservation_expired`, `hold_required`, `invalid_ttl`
   */
  extend(ttlMs?: number): Promise<number>
  /**
   * Grows the hold: more is charged in every window, or in none.
   *
   * @param cost tokens, or amounts by unit: of those that it does not name nothing
   * @returns the decision; the hold is as it was where it refuses
   * @throws {QuotaError} `reservation_expired`, `hold_required`, `invalid_cost`
   */
  add(cost: C['cost']): Promise<Decision<C>>
  /** Extends the hold again and again, until the returned function is called or it is settled. Without a hold: nothing. */
  keepAlive(): () => void
}

/** Tokens are held for the work; commit what it cost, or cancel. What no caller settles stays charged, unless it is a hold. */
export interface HeldReservation<C extends Counting = Counting> extends ReservationCalls<C> {
  readonly status: 'reserved'
  readonly allowed: true
  readonly decision: AdmittedDecision<C>
}

/** A hold that another process, or this one earlier, reserved. */
export interface ResumedReservation<C extends Counting = Counting> extends ReservationCalls<C> {
  readonly status: 'resumed'
  readonly token: string
  readonly subject: C['names']['subject']
  readonly operation: string
}

/** A reservation that holds nothing. */
export interface EmptyReservation<C extends Counting = Counting> {
  readonly allowed: false
  /** @throws {QuotaError} `commit_refused` for a refused one, since work was done without admission; else nothing */
  commit(actual?: C['cost']): Promise<CommitResult<C>>
  /** Nothing to give back: does nothing. */
  cancel(): Promise<void>
}

/** The request does not fit; nothing was charged. */
export interface RefusedReservation<C extends Counting = Counting> extends EmptyReservation<C> {
  readonly status: 'refused'
  readonly decision: RefusedDecision<C>
}

/**
 * - `duplicate`: another caller reserved under this id; the work is theirs, do not do it again.
 * - `cancelled`: the id was cancelled and is used up.
 * - `expired`: it was this handle's hold, and has ended.
 */
export interface RepeatedReservation<C extends Counting = Counting> extends EmptyReservation<C> {
  readonly status: 'duplicate' | 'cancelled' | 'expired'
  readonly decision?: undefined
}

export type Reservation<C extends Counting = Counting> =
  | HeldReservation<C>
  | RefusedReservation<C>
  | RepeatedReservation<C>

/** A reservation of an engine whose stores answer synchronously. */
export type SyncReservation<C extends Counting = Counting> =
  | Synchronous<HeldReservation<C>>
  | Synchronous<RefusedReservation<C>>
  | Synchronous<RepeatedReservation<C>>

/** The same with calls that answer synchronously. */
type Synchronous<T> = {
  readonly [K in keyof T]: K extends 'keepAlive'
    ? T[K]
    : T[K] extends (...args: infer Args) => Promise<infer R>
      ? Method<Args, R>
      : T[K]
}

/** Compared as methods are, so that an engine of some units is one of any. */
type Method<Args extends unknown[], R> = { call(...args: Args): R }['call']

/** The result of {@link Quota.run}: the work's value, or why there was no work. */
export type RunResult<T, C extends Counting = Counting> =
  | { readonly allowed: true; readonly decision: AdmittedDecision<C>; readonly value: T }
  | { readonly allowed: false; readonly status: 'refused'; readonly decision: RefusedDecision<C> }
  | { readonly allowed: false; readonly status: RepeatedReservation['status']; readonly decision?: undefined }

/** The windows that apply to a subject, by category, in the policy's order. */
export interface QuotaStatus<C extends Counting = Counting> {
  readonly subject: C['names']['subject']
  /** Instant of the look by the store's clock, epoch milliseconds. */
  readonly now: number
  readonly settingsVersion: number
  readonly windows: Readonly<Record<C['names']['category'], readonly HeldWindowStatus<C>[]>>
}

/** A limit of a status. */
export interface HeldWindowStatus<C extends Counting = Counting> extends WindowStatus<C> {
  /**
   * How much of `used` open holds of the subject have, and may still give back. There where it is above 0, in the first
   * layer of the subject's own.
   */
  readonly held?: number | undefined
}

/** Options of a peek. */
export interface PeekOptions {
  /**
   * Reports a refusal to listeners and metrics, as `consume` does: for a caller who refuses the request by it.
   * @default false
   */
  readonly reportsRefusal?: boolean | undefined
}

/** Options of `quota.status()`. */
export interface StatusOptions<C extends Counting = Counting> {
  /** As of a request. */
  readonly plan?: C['names']['plan'] | undefined
}

/**
 * An open hold of a subject. What it has, in every window, is `tokens`, a number; where the policy has several units `cost`, an
 * amount of each.
 */
export type Hold<C extends Counting = Counting> = C['held'] & {
  /** Names it to `release`. */
  readonly ref: string
  readonly operation: string
  readonly category: C['names']['category']
  /** Whether it has a slot. */
  readonly slot: boolean
  /** Epoch milliseconds. */
  readonly takenAt: number
  readonly endsAt: number
}

/** A hold that ended and nobody had settled; what went back is as of {@link Hold}. */
export type HoldEnd<C extends Counting = Counting> = C['held'] & {
  readonly operation: string
  readonly category: C['names']['category']
  /** The subject's key in the first layer of its own. */
  readonly owner: string
  /** Epoch milliseconds. */
  readonly endsAt: number
}

/** A commit above what was reserved. */
export interface QuotaOverrun<C extends Counting = Counting> extends CommitResult<C> {
  readonly subject: C['names']['subject']
  readonly operation: string
  readonly category: C['names']['category']
  /** What was reserved. */
  readonly reserved: C['amount']
}

/** What `reset` closes. */
export interface ResetOptions<C extends Counting = Counting> {
  /**
   * One layer by name. A shared layer is only ever reset when it is named.
   * @default every layer that is not shared
   */
  readonly layer?: LayerIn<C['names']> | undefined
  /** @default every category */
  readonly category?: C['names']['category'] | undefined
}

/** A charge took a window, or slots, across a threshold of its limit. */
export interface NearLimit<C extends Counting = Counting> {
  readonly subject: C['names']['subject']
  readonly decision: Decision<C>
  /** After the charge. */
  readonly window: WindowStatus<C>
  readonly threshold: Threshold<C>
}
