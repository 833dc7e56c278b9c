import type { Decision } from '../decision/decision.ts'
import type { Policy } from '../policy/policy.ts'
import type { Subject } from '../store/schema.ts'
import type { QuotaEvent, QuotaListener } from './events.ts'
import type {
  HeldReservation,
  QuotaRequest,
  QuotaStatus,
  Reservation,
  ReserveRequest,
  ResetOptions,
  RunResult,
  SyncReservation,
} from './requests.ts'
import type { QuotaSettings, QuotaSubjects, SettingsInForce } from './settings-admin.ts'

/**
 * A quota engine: decides requests against every window of every layer at once.
 *
 * Errors that every call may throw ({@link QuotaError}): `unknown_operation`, `invalid_cost`, `invalid_subject` for bad
 * requests; `quota_unavailable` when a store does not answer and the failure policy says `closed`; `quota_closed`.
 */
export interface Quota<Operation extends string = string> {
  readonly policy: Policy<Operation>
  /** Whether it is a {@link SyncQuota}: both stores answer at once. */
  readonly sync: boolean

  /** Decides a request and, if it is admitted, charges it in every window. */
  consume(request: QuotaRequest<Operation>): Promise<Decision>

  /** What {@link consume} would answer now; changes nothing. */
  peek(request: QuotaRequest<Operation>): Promise<Decision>

  /** Charges a request before its work, to be settled by its outcome. */
  reserve(request: ReserveRequest<Operation>): Promise<Reservation>

  /**
   * Reserves, works, and settles by the outcome: commits when the work returns, cancels when it throws.
   * The work may settle by itself; what it throws is thrown on.
   */
  run<T>(
    request: ReserveRequest<Operation>,
    work: (reservation: HeldReservation) => T | PromiseLike<T>,
  ): Promise<RunResult<T>>

  /** The windows that apply to a subject; changes nothing. */
  status(subject: Subject): Promise<QuotaStatus>

  /**
   * Closes the windows of a subject, so that nothing is used in them.
   * @throws {QuotaError} `invalid_reset` for a layer or category that the policy does not have
   */
  reset(subject: Subject, options?: ResetOptions): Promise<void>

  /** What this process decides by at this moment; asks no store. */
  inForce(): SettingsInForce

  readonly settings: QuotaSettings
  readonly subjects: QuotaSubjects

  /** Calls `listener` on an event until the returned function is called. */
  on<E extends QuotaEvent>(event: E, listener: QuotaListener<E>): () => void

  /** Settles when the settings were read once; calls wait for that by themselves. */
  ready(): Promise<void>
  /** Leaves nothing open; later calls throw `quota_closed`. */
  close(): Promise<void>
}

/** An engine whose stores answer at once: every question can be asked without waiting. */
export interface SyncQuota<Operation extends string = string> extends Quota<Operation> {
  readonly sync: true
  /** As {@link Quota.consume}; a signal is not looked at. */
  consumeSync(request: QuotaRequest<Operation>): Decision
  peekSync(request: QuotaRequest<Operation>): Decision
  reserveSync(request: ReserveRequest<Operation>): SyncReservation
  statusSync(subject: Subject): QuotaStatus
}
