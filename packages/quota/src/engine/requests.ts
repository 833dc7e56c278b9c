import type { AdmittedDecision, Decision, RefusedDecision, WindowStatus } from '../decision/decision.ts'
import type { Threshold } from '../policy/settings.ts'
import type { Subject } from '../store/schema.ts'

/** One request for tokens. */
export interface QuotaRequest<Operation extends string = string> {
  /** Who asks: one string, or one key for each layer that is not shared. Any text of 1 to 256 bytes. */
  readonly subject: Subject
  /** A name from the policy's operations. */
  readonly operation: Operation
  /**
   * Tokens needed instead of the operation's price, never in another category. A whole number, 0 or more.
   * @default the operation's price
   */
  readonly cost?: number | undefined
  /**
   * The subject's plan, for example from the claims of its token. A plan in the subject's stored settings comes first; one
   * that there is not follows the base limits, and is told by the event `unknownPlan`.
   */
  readonly plan?: string | undefined
  /** Gives up waiting; what was admitted meanwhile is given back. */
  readonly signal?: AbortSignal | undefined
}

/** A request whose tokens are settled by the outcome of the work. */
export interface ReserveRequest<Operation extends string = string> extends QuotaRequest<Operation> {
  /**
   * The server's own id of this attempt (1 to 256 bytes, never one from a client), which makes repeats harmless: only
   * the first is told to work. It belongs to one subject, operation and cost, and is kept `idTtlMs` after its last use.
   */
  readonly id?: string | undefined
  /**
   * Makes the reservation a hold: tokens and slots are its own until it is settled, or until so many milliseconds have
   * passed by the store's clock; then they go back by themselves. A whole number, 1 to the engine's `maxTtlMs`.
   * @default none, so that what nobody settles stays charged; for operations that need a slot the engine's `holdTtlMs`
   */
  readonly ttlMs?: number | undefined
}

/** What a commit came to, in tokens. */
export interface CommitResult {
  /** What stays charged. */
  readonly charged: number
  /** What the work cost and nobody was charged for: it was above what `overrun` and `maxOverrun` allow. */
  readonly uncharged: number
}

/** The calls that a reservation and a hold taken up elsewhere have in common. */
export interface ReservationCalls {
  /**
   * Names the hold in any process of the policy: see `quota.resume()`. Whoever has it can settle the hold, so keep it on
   * servers. `undefined`: no hold.
   */
  readonly token: string | undefined
  /** When the hold ends, epoch milliseconds by the store's clock, as last heard; `undefined`: no hold. */
  readonly endsAt: number | undefined
  /**
   * The work was done. Settles once; later calls do nothing, and calls meanwhile share its promise. Where it rejects and
   * it is certain that nothing was done, or the reservation is a hold or has an id, it may be called again.
   *
   * @param actual tokens it cost; the rest goes back. Above the tokens reserved only for holds of operations whose `overrun`
   * is `charge` or `fit`. Default: all of them
   * @throws {QuotaError} `commit_above_reservation`, `invalid_cost`; of a hold `reservation_expired`, `reservation_cancelled`
   */
  commit(actual?: number): Promise<CommitResult>
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
   * Grows the hold: more tokens are charged in every window, or in none.
   *
   * @returns the decision; the hold is as it was where it refuses
   * @throws {QuotaError} `reservation_expired`, `hold_required`, `invalid_cost`
   */
  add(tokens: number): Promise<Decision>
  /** Extends the hold again and again, until the returned function is called or it is settled. Without a hold: nothing. */
  keepAlive(): () => void
}

/** Tokens are held for the work; commit what it cost, or cancel. What nobody settles stays charged, unless it is a hold. */
export interface HeldReservation extends ReservationCalls {
  readonly status: 'reserved'
  readonly allowed: true
  readonly decision: AdmittedDecision
}

/** A hold that another process, or this one earlier, reserved. */
export interface ResumedReservation extends ReservationCalls {
  readonly status: 'resumed'
  readonly token: string
  readonly subject: Subject
  readonly operation: string
}

/** A reservation that holds nothing. */
export interface EmptyReservation {
  readonly allowed: false
  /** @throws {QuotaError} `commit_refused` for a refused one, since work was done without admission; else nothing */
  commit(actual?: number): Promise<CommitResult>
  /** Nothing to give back: does nothing. */
  cancel(): Promise<void>
}

/** The request does not fit; nothing was charged. */
export interface RefusedReservation extends EmptyReservation {
  readonly status: 'refused'
  readonly decision: RefusedDecision
}

/**
 * - `duplicate`: somebody else reserved under this id; the work is theirs, do not do it again.
 * - `cancelled`: the id was cancelled and is used up.
 * - `expired`: it was this handle's hold, and has ended.
 */
export interface RepeatedReservation extends EmptyReservation {
  readonly status: 'duplicate' | 'cancelled' | 'expired'
  readonly decision?: undefined
}

export type Reservation = HeldReservation | RefusedReservation | RepeatedReservation

/** A reservation of an engine whose stores answer at once. */
export type SyncReservation =
  | Synchronous<HeldReservation>
  | Synchronous<RefusedReservation>
  | Synchronous<RepeatedReservation>

/** The same with calls that answer at once. */
type Synchronous<T extends EmptyReservation | ReservationCalls> = {
  readonly [K in keyof T]: K extends 'keepAlive'
    ? T[K]
    : T[K] extends (...args: infer Args) => Promise<infer R>
      ? (...args: Args) => R
      : T[K]
}

/** What came of {@link Quota.run}: the work's value, or why there was no work. */
export type RunResult<T> =
  | { readonly allowed: true; readonly decision: AdmittedDecision; readonly value: T }
  | { readonly allowed: false; readonly status: 'refused'; readonly decision: RefusedDecision }
  | { readonly allowed: false; readonly status: RepeatedReservation['status']; readonly decision?: undefined }

/** The windows that apply to a subject, by category, in the policy's order. */
export interface QuotaStatus {
  readonly subject: Subject
  /** Instant of the look by the store's clock, epoch milliseconds. */
  readonly now: number
  readonly settingsVersion: number
  readonly windows: Readonly<Record<string, readonly HeldWindowStatus[]>>
}

/** A limit of a status. */
export interface HeldWindowStatus extends WindowStatus {
  /**
   * How much of `used` open holds of the subject have, and may still give back. There where it is above 0, in the first
   * layer of the subject's own.
   */
  readonly held?: number | undefined
}

/** What `quota.status()` may be told. */
export interface StatusOptions {
  /** As of a request. */
  readonly plan?: string | undefined
}

/** An open hold of a subject. */
export interface Hold {
  /** Names it to `release`. */
  readonly ref: string
  readonly operation: string
  readonly category: string
  /** Tokens that it has, in every window. */
  readonly tokens: number
  /** Whether it has a slot. */
  readonly slot: boolean
  /** Epoch milliseconds. */
  readonly takenAt: number
  readonly endsAt: number
}

/** A hold that ended and nobody had settled. */
export interface HoldEnd {
  readonly operation: string
  readonly category: string
  /** The subject's key in the first layer of its own. */
  readonly owner: string
  /** Tokens that went back. */
  readonly tokens: number
  /** Epoch milliseconds. */
  readonly endsAt: number
}

/** A commit above what was reserved. */
export interface QuotaOverrun extends CommitResult {
  readonly subject: Subject
  readonly operation: string
  readonly category: string
  /** Tokens that were reserved. */
  readonly reserved: number
}

/** What {@link Quota.reset} closes. */
export interface ResetOptions {
  /**
   * One layer by name. A shared layer is only ever reset when it is named.
   * @default every layer that is not shared
   */
  readonly layer?: string | undefined
  /** @default every category */
  readonly category?: string | undefined
}

/** A charge took a window, or slots, across a threshold of its limit. */
export interface NearLimit {
  readonly subject: Subject
  readonly decision: Decision
  /** After the charge. */
  readonly window: WindowStatus
  readonly threshold: Threshold
}
