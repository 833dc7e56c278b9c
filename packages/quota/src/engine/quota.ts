import type { Decision } from '../decision/decision.ts'
import type { Policy } from '../policy/policy.ts'
import type { Counting, IsSingle } from '../policy/units.ts'
import type { Answer } from '../store/quota-store.ts'
import type { QuotaHolds } from './admin/holds-admin.ts'
import type { QuotaSettings } from './admin/settings-admin.ts'
import type { QuotaSubjects } from './admin/subject-admin.ts'
import type { TakeDemand } from './decide/takes.ts'
import type { QuotaEvent, QuotaListener, WaitBegin, WaitEnd } from './events.ts'
import type {
  HeldReservation,
  QuotaRequest,
  QuotaStatus,
  Reservation,
  ReserveRequest,
  ResumedReservation,
  RunResult,
  SyncReservation,
} from './requests.ts'

/**
 * A quota engine. It decides each request against all limits that count it, atomically.
 *
 * Every call may throw these errors ({@link QuotaError}): `unknown_operation`, `invalid_cost` or `invalid_subject` for
 * an invalid request; `quota_unavailable` if a store is unavailable and the failure policy is `closed`; `quota_closed`.
 */
export interface Quota<Operation extends string = string, C extends Counting = Counting> {
  readonly policy: Policy<Operation, C>
  /** Whether this is a {@link SyncQuota}: both stores are synchronous. */
  readonly sync: boolean
  /** The lifetime of holds whose requests don't set one, in milliseconds; `undefined`: the store has no holds. */
  readonly holdTtlMs: number | undefined

  /**
   * Decides a request. If it is admitted, it is charged in every limit that counts it.
   *
   * @throws {QuotaError} `reservation_required` for operations that need a slot
   */
  consume(request: QuotaRequest<Operation, C>): Promise<Decision<C>>

  /**
   * Returns the decision that {@link consume} would make now. Charges nothing.
   *
   * @param options `reportsRefusal` reports a refusal to listeners and metrics, as `consume` does. Set it if you refuse
   * the request because of the peek. Default: false
   */
  peek(
    request: QuotaRequest<Operation, C>,
    options?: { readonly reportsRefusal?: boolean | undefined },
  ): Promise<Decision<C>>

  /**
   * Charges a request before its work. Settle it when you know the outcome. With `ttlMs`, and for operations that need
   * a slot, the reservation is a hold: if you never settle it, it is refunded when it expires.
   *
   * @throws {QuotaError} `invalid_id`, `id_conflict`, `invalid_ttl`, `too_many_holds`, `holds_unsupported`
   */
  reserve(request: ReserveRequest<Operation, C>): Promise<Reservation<C>>

  /**
   * Continues a hold that another process, or this one earlier, reserved. You can resume an expired hold as long as the
   * store remembers it: a late commit is charged if the operation's `overrun` is `charge`.
   *
   * @param token `reservation.token`, unchanged
   * @throws {QuotaError} `invalid_token`; `reservation_expired` if the store no longer remembers the hold
   */
  resume(token: string): Promise<ResumedReservation<C>>

  /**
   * Reserves, runs the work, and settles by its outcome: commits if the work returns, cancels if it throws. Holds are
   * kept alive while the work runs. The work may settle its reservation itself. Errors of the work are rethrown.
   */
  run<T>(
    request: ReserveRequest<Operation, C>,
    work: (reservation: HeldReservation<C>) => T | PromiseLike<T>,
  ): Promise<RunResult<T, C>>

  /**
   * Makes decisions inside your own transaction, on the database that has the counters. A charge counts once the
   * transaction commits, and never if it rolls back.
   *
   * @param transaction your store's kind of transaction, such as kysely's `Transaction`
   * @throws {QuotaError} `store_unsupported` if the store has no transactions; `invalid_options` if the value isn't a
   * transaction
   */
  inTransaction(transaction: unknown): QuotaInTransaction<Operation, C>

  /**
   * Returns a subject's limits, with what is used and what remains. Charges nothing.
   *
   * @param options `plan` and `limits` as in a request
   */
  status(
    subject: C['names']['subject'],
    options?: Pick<QuotaRequest<string, C>, 'plan' | 'limits'>,
  ): Promise<QuotaStatus<C>>

  /**
   * Resets a subject's limits to 0 used. Slots stay taken.
   *
   * @param options `limits`: names of limits. Limits that all subjects share are only reset by name. Default: every limit
   * of the subject's own
   * @throws {QuotaError} `invalid_reset` for an unknown limit
   */
  reset(
    subject: C['names']['subject'],
    options?: { readonly limits?: readonly C['names']['limit'][] | undefined },
  ): Promise<void>

  readonly settings: QuotaSettings<C>
  readonly subjects: QuotaSubjects<C>
  readonly holds: QuotaHolds<C>

  /** Calls `listener` for each event until you call the returned function. */
  on<E extends QuotaEvent>(event: E, listener: QuotaListener<E, C>): () => void

  /** Resolves once the settings have been read. Other calls wait for that anyway. */
  ready(): Promise<void>
  /** Releases everything the engine uses. Later calls throw `quota_closed`. */
  close(): Promise<void>
}

/** Decisions inside a transaction. */
export interface QuotaInTransaction<Operation extends string = string, C extends Counting = Counting> {
  /**
   * Like `quota.consume()`, but ignores `signal`, and the failure policy doesn't apply.
   *
   * @throws {QuotaError} `reservation_required`; `quota_unavailable` if the store is unavailable: roll the transaction
   * back
   */
  consume(request: QuotaRequest<Operation, C>): Promise<Decision<C>>
}

/** An engine with synchronous stores. It also has calls that return without a promise. */
export interface SyncQuota<Operation extends string = string, C extends Counting = Counting>
  extends Quota<Operation, C> {
  readonly sync: true
  /** Like `consume`, but ignores `signal`. */
  consumeSync(request: QuotaRequest<Operation, C>): Decision<C>
  peekSync(request: QuotaRequest<Operation, C>): Decision<C>
  reserveSync(request: ReserveRequest<Operation, C>): SyncReservation<C>
  statusSync(subject: C['names']['subject'], options?: Pick<QuotaRequest<string, C>, 'plan' | 'limits'>): QuotaStatus<C>
}

/** A request to an engine with one operation, which it needn't name. */
type Unnamed<Request> = Omit<Request, 'operation'>

/**
 * Calls of an engine whose policy has one operation. They are properties, not methods, so that the compiler doesn't take
 * an engine with several operations for one.
 */
export interface OneOperation<C extends Counting = Counting> {
  readonly consume: (request: Unnamed<QuotaRequest<string, C>>) => Promise<Decision<C>>
  readonly peek: (
    request: Unnamed<QuotaRequest<string, C>>,
    options?: Parameters<Quota['peek']>[1],
  ) => Promise<Decision<C>>
  readonly reserve: (request: Unnamed<ReserveRequest<string, C>>) => Promise<Reservation<C>>
  readonly run: <T>(
    request: Unnamed<ReserveRequest<string, C>>,
    work: (reservation: HeldReservation<C>) => T | PromiseLike<T>,
  ) => Promise<RunResult<T, C>>
}

/** The same over synchronous stores. */
export interface SyncOneOperation<C extends Counting = Counting> extends OneOperation<C> {
  readonly consumeSync: (request: Unnamed<QuotaRequest<string, C>>) => Decision<C>
  readonly peekSync: (request: Unnamed<QuotaRequest<string, C>>) => Decision<C>
  readonly reserveSync: (request: Unnamed<ReserveRequest<string, C>>) => SyncReservation<C>
}

/** The calls that needn't name the operation, if there is only one. */
export type CallsOf<Operation extends string, C extends Counting> =
  IsSingle<Operation> extends true ? OneOperation<C> : unknown
export type SyncCallsOf<Operation extends string, C extends Counting> =
  IsSingle<Operation> extends true ? SyncOneOperation<C> : unknown

/** The calls that a waiting queue makes on its engine. */
export interface EngineDoor {
  /** Checks a request and prices it with the current settings. Throws what `reserve` rejects with. */
  demand(request: ReserveRequest): TakeDemand
  /** `reserve`, without a promise if the stores are synchronous. */
  attempt(request: ReserveRequest): Reservation | Promise<Reservation>
  /** `peek`, without a promise if the stores are synchronous. */
  peek(request: ReserveRequest): Answer<Decision>
  /** Emits the event `waiting`. */
  began(begin: WaitBegin): void
  /** Emits the event `waited`. */
  ended(end: WaitEnd): void
}

/** The property of an engine that holds its door. All builds and copies of the package share the symbol. */
const DOOR: unique symbol = Symbol.for('@scoregw/quota/door') as never

export function openDoor(quota: Quota, door: EngineDoor): void {
  Object.defineProperty(quota, DOOR, { value: door })
}

/** Returns these calls for an engine; `undefined` for any other object. */
export function doorOf(quota: unknown): EngineDoor | undefined {
  return (Object(quota) as { readonly [DOOR]?: EngineDoor })[DOOR]
}
