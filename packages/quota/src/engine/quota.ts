import type { Decision } from '../decision/decision.ts'
import type { Policy } from '../policy/policy.ts'
import type { Counting } from '../policy/units.ts'
import type { QuotaHolds } from './admin/holds-admin.ts'
import type { QuotaSettings, SettingsInForce } from './admin/settings-admin.ts'
import type { QuotaSubjects } from './admin/subject-admin.ts'
import type { QuotaEvent, QuotaListener } from './events.ts'
import type {
  HeldReservation,
  PeekOptions,
  QuotaRequest,
  QuotaStatus,
  Reservation,
  ReserveRequest,
  ResetOptions,
  ResumedReservation,
  RunResult,
  StatusOptions,
  SyncReservation,
} from './requests.ts'

/**
 * A quota engine: decides requests against every window of every layer together.
 *
 * Errors that every call may throw ({@link QuotaError}): `unknown_operation`, `invalid_cost`, `invalid_subject` for bad
 * requests; `quota_unavailable` when a store does not answer and the failure policy says `closed`; `quota_closed`.
 */
export interface Quota<Operation extends string = string, C extends Counting = Counting> {
  readonly policy: Policy<Operation, C>
  /** Whether it is a {@link SyncQuota}: both stores answer synchronously. */
  readonly sync: boolean
  /** How long holds last that say nothing else, in milliseconds; `undefined`: the store has none. */
  readonly holdTtlMs: number | undefined

  /**
   * Decides a request and, if it is admitted, charges it in every window.
   * @throws {QuotaError} `reservation_required` for operations that need a slot
   */
  consume(request: QuotaRequest<Operation, C>): Promise<Decision<C>>

  /** What {@link consume} would answer now; changes nothing. */
  peek(request: QuotaRequest<Operation, C>, options?: PeekOptions): Promise<Decision<C>>

  /**
   * Charges a request before its work, to be settled by its outcome. With `ttlMs`, and for operations that need a slot, it is
   * a hold: what no caller settles goes back when it ends.
   * @throws {QuotaError} `invalid_id`, `id_conflict`, `invalid_ttl`, `too_many_holds`, `holds_unsupported`
   */
  reserve(request: ReserveRequest<Operation, C>): Promise<Reservation<C>>

  /**
   * Takes up a hold that another process, or this one earlier, reserved. A hold that has ended can be resumed as long as
   * something is known of it: a late commit is charged where the operation's `overrun` is `charge`.
   *
   * @param token as `reservation.token` gives it
   * @throws {QuotaError} `invalid_token`; `reservation_expired` where nothing is known of it any more
   */
  resume(token: string): Promise<ResumedReservation<C>>

  /**
   * Reserves, works, and settles by the outcome: commits when the work returns, cancels when it throws. A hold is kept alive
   * while the work lasts.
   * The work may settle by itself; what it throws is thrown on.
   */
  run<T>(
    request: ReserveRequest<Operation, C>,
    work: (reservation: HeldReservation<C>) => T | PromiseLike<T>,
  ): Promise<RunResult<T, C>>

  /**
   * The same decisions as a part of a transaction of the caller's, on the database that the counters are in: a charge
   * counts when the transaction commits, and never if it does not.
   *
   * @param transaction what the store calls one, such as kysely's `Transaction`
   * @throws {QuotaError} `store_unsupported` where the store has no transactions; `invalid_options` for a value that is
   * none
   */
  within(transaction: unknown): QuotaWithin<Operation, C>

  /** The limits that apply to a subject; changes nothing. */
  status(subject: C['names']['subject'], options?: StatusOptions<C>): Promise<QuotaStatus<C>>

  /**
   * Closes the windows of a subject, so that nothing is used in them. Slots stay taken.
   * @throws {QuotaError} `invalid_reset` for a layer or category that the policy does not have
   */
  reset(subject: C['names']['subject'], options?: ResetOptions<C>): Promise<void>

  /** What this process decides by at this moment; asks no store. */
  inForce(): SettingsInForce<C>

  readonly settings: QuotaSettings<C>
  readonly subjects: QuotaSubjects<C>
  readonly holds: QuotaHolds<C>

  /** Calls `listener` on an event until the returned function is called. */
  on<E extends QuotaEvent>(event: E, listener: QuotaListener<E, C>): () => void

  /** Settles when the settings were read once; calls wait for that by themselves. */
  ready(): Promise<void>
  /** Leaves nothing open; later calls throw `quota_closed`. */
  close(): Promise<void>
}

/** Decisions as a part of a transaction. */
export interface QuotaWithin<Operation extends string = string, C extends Counting = Counting> {
  /**
   * As `consume`; a signal is not looked at, and no failure policy answers.
   * @throws {QuotaError} `reservation_required`; `quota_unavailable` when the store does not answer: the transaction is to be
   *   rolled back
   */
  consume(request: QuotaRequest<Operation, C>): Promise<Decision<C>>
}

/** An engine whose stores answer synchronously: every question can be asked without waiting. */
export interface SyncQuota<Operation extends string = string, C extends Counting = Counting>
  extends Quota<Operation, C> {
  readonly sync: true
  /** As `consume`; a signal is not looked at. */
  consumeSync(request: QuotaRequest<Operation, C>): Decision<C>
  peekSync(request: QuotaRequest<Operation, C>): Decision<C>
  reserveSync(request: ReserveRequest<Operation, C>): SyncReservation<C>
  statusSync(subject: C['names']['subject'], options?: StatusOptions<C>): QuotaStatus<C>
}
