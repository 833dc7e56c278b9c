import type { AdmittedDecision, Decision, LimitStatus, RefusedDecision } from '../decision/decision.ts'
import { faultyDocument, type QuotaError } from '../errors/quota-error.ts'
import { kindOf } from '../errors/shown.ts'
import { isObject } from '../options/checks.ts'
import { unknownKey } from '../options/faults.ts'
import { refusedOptions } from '../options/options-parser.ts'
import type { GivenLimit } from '../policy/policy.ts'
import type { Threshold } from '../policy/settings.ts'
import type { Counting, Some } from '../policy/units.ts'

/** One request for tokens. */
export interface QuotaRequest<Operation extends string = string, C extends Counting = Counting> {
  /**
   * Who makes the request: a string, or an object with a key per layer if several layers aren't shared. Any text that
   * isn't empty. Keys above 200 bytes count by their SHA-256.
   */
  readonly subject: C['names']['subject']
  /** The name of one of the policy's operations. */
  readonly operation: Operation
  /**
   * The amount to charge, instead of the operation's price. A whole number, 0 or more. If the
   * policy has several units: amounts by unit. Units that you leave out are charged at their price.
   *
   * @default the operation's price
   */
  readonly cost?: C['cost'] | undefined
  /**
   * The subject's plan, for example from the claims of its token. A plan in the subject's stored settings takes
   * precedence. With an unknown plan, the policy's numbers apply, and the event `unknownPlan` reports it.
   */
  readonly plan?: C['names']['plan'] | undefined
  /**
   * Numbers of this request from your own data, by limits of the subject's own. `null`: no number. Modes don't scale
   * them. Numbers in the subject's stored settings take precedence. The counter is the same, whatever the number.
   * Unknown names are ignored, with one warning.
   *
   * @default those of plans, settings and the policy
   */
  readonly limits?: Some<C['names']['limit'], GivenLimit | null | undefined> | undefined
  /** Stops the wait. If the request is admitted anyway, it is refunded. */
  readonly signal?: AbortSignal | undefined
}

/** A request that you settle by the outcome of its work. */
export interface ReserveRequest<Operation extends string = string, C extends Counting = Counting>
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
export interface CommitResult<C extends Counting = Counting> {
  /** The amount that stays charged. */
  readonly charged: C['amount']
  /** The part of the actual cost that nobody pays, because it exceeds `overrun` and `maxOverrun`. */
  readonly uncharged: C['amount']
}

/** Calls of a reservation or of a resumed hold. */
interface ReservationCalls<C extends Counting = Counting> {
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
   * Grows the hold: charges more in all limits that count it, or in none.
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

/** A reservation without tokens. */
export interface EmptyReservation<C extends Counting = Counting> {
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
export interface RefusedReservation<C extends Counting = Counting> extends EmptyReservation<C> {
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
export interface RepeatedReservation<C extends Counting = Counting> extends EmptyReservation<C> {
  readonly status: 'duplicate' | 'cancelled' | 'expired'
  readonly decision?: undefined
}

export type Reservation<C extends Counting = Counting> =
  | HeldReservation<C>
  | RefusedReservation<C>
  | RepeatedReservation<C>

/** A reservation of an engine with synchronous stores. */
export type SyncReservation<C extends Counting = Counting> =
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
export type RunResult<T, C extends Counting = Counting> =
  | { readonly allowed: true; readonly decision: AdmittedDecision<C>; readonly value: T }
  | { readonly allowed: false; readonly status: 'refused'; readonly decision: RefusedDecision<C> }
  | { readonly allowed: false; readonly status: RepeatedReservation['status']; readonly decision?: undefined }

/** The limits that apply to a subject, in the policy's order. */
export interface QuotaStatus<C extends Counting = Counting> {
  readonly subject: C['names']['subject']
  /** When the status was read, in epoch milliseconds of the store's clock. */
  readonly now: number
  readonly settingsVersion: number
  /** By name. */
  readonly limits: { readonly [name in C['names']['limit']]?: HeldLimitStatus<C> }
}

/** A limit in a status. */
export interface HeldLimitStatus<C extends Counting = Counting> extends LimitStatus<C> {
  /**
   * The part of `used` that the subject's open holds may still refund. Present if above 0, in the first layer that
   * isn't shared.
   */
  readonly held?: number | undefined
}

/**
 * A subject's open hold. `tokens` is its amount. Policies with several units have `cost` instead, with
 * an amount per unit.
 */
export type Hold<C extends Counting = Counting> = C['held'] & {
  /** The hold's reference for `release`. */
  readonly ref: string
  readonly operation: string
  /** Whether it has a slot. */
  readonly slot: boolean
  /** When it was reserved, epoch milliseconds. */
  readonly takenAt: number
  readonly endsAt: number
}

/** A hold that expired unsettled. The refunded amount is as in {@link Hold}. */
export type HoldEnd<C extends Counting = Counting> = C['held'] & {
  readonly operation: string
  /** The subject's key in the first layer that isn't shared. */
  readonly owner: string
  /** When it expired, epoch milliseconds. */
  readonly endsAt: number
}

/** A commit above its reservation. */
export interface QuotaOverrun<C extends Counting = Counting> extends CommitResult<C> {
  readonly subject: C['names']['subject']
  readonly operation: string
  /** The reserved amount. */
  readonly reserved: C['amount']
}

/** A final charge took a limit across a threshold. */
export interface NearLimit<C extends Counting = Counting> {
  readonly subject: C['names']['subject']
  /** The decision about the request whose charge made the crossing. */
  readonly decision: Decision<C>
  /** The limit when the event is emitted. What open reservations hold is included. */
  readonly limit: LimitStatus<C>
  readonly threshold: Threshold<C>
}

/** The members of a request. */
export const MEMBERS = ['subject', 'operation', 'cost', 'plan', 'limits', 'signal', 'id', 'ttlMs'] as const

const THE_COST = 'use `cost`'
const THE_SUBJECT = 'use `subject`'
const THE_ID = 'use `id` of reserve() or run()'
const TO_WAIT = 'only a queue waits: use waitingQueue(quota)'
const THE_WAIT = 'use `maxWaitMs` of waitingQueue(quota)'

/** Names from other libraries, and guesses. */
const WORDS: Readonly<Record<string, string>> = {
  points: THE_COST,
  tokens: THE_COST,
  weight: THE_COST,
  amount: THE_COST,
  key: THE_SUBJECT,
  user: THE_SUBJECT,
  userId: THE_SUBJECT,
  idempotencyKey: THE_ID,
  ttl: 'use `ttlMs`, in milliseconds',
  maxWaitMs: TO_WAIT,
  timeout: THE_WAIT,
  priority: TO_WAIT,
}

/** The error for a member that requests don't have. */
export function unknownMember(name: string): QuotaError {
  return misplaced(name, unknownKey(name, MEMBERS, WORDS))
}

/** The error for a member that only reservations have. */
export function onlyReserved(name: 'id' | 'ttlMs'): QuotaError {
  return misplaced(name, 'consume() has none: use reserve() or run()')
}

function misplaced(path: string, message: string): QuotaError {
  return faultyDocument('invalid_request', 'request', [{ path, message }])
}

/**
 * Checks the last argument of a call, which may be absent.
 *
 * @param call as users write it, `reset()`
 * @throws {QuotaError} `invalid_options`
 */
export function callOptions<T extends object>(
  call: string,
  options: T | undefined,
  names: readonly (keyof T & string)[],
): Partial<T> {
  if (options === undefined) return {}
  const faults = isObject(options)
    ? Object.keys(options)
        .filter((name) => !(names as readonly string[]).includes(name))
        .map((name) => ({ path: name, message: unknownKey(name, names) }))
    : [{ path: '', message: `expected an object, { ${names.join(', ')} }, got ${kindOf(options)}` }]
  if (faults.length > 0) throw refusedOptions(call, faults)
  return options
}
