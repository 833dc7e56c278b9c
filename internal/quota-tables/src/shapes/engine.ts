import type { Fault, WriteOptions } from '@scoregw/quota'
import type { DeepPartial, UnknownPlan } from '@scoregw/quota/store'
import type {
  AdmittedDecision,
  Decision,
  HeldReservation,
  Hold,
  HoldEnd,
  NearLimit,
  PeekOptions,
  QuotaOverrun,
  QuotaRequest,
  QuotaStatus,
  RefusedDecision,
  Reservation,
  ReserveRequest,
  ResetOptions,
  ResumedReservation,
  RunResult,
  StatusOptions,
  SyncReservation,
} from './decision.ts'
import type {
  Counting,
  OneUnit,
  Policy,
  Settings,
  SettingsDocument,
  SubjectSettings,
  Versioned,
  VersionedSettings,
  VersionedSubjectSettings,
} from './policy.ts'

/** The result of a change: the stored settings, and warnings about operations that no request can run any more. */
export interface SettingsUpdate<C extends Counting = OneUnit> {
  readonly settings: VersionedSettings<C>
  readonly warnings: readonly Fault[]
}

/** The settings that a process currently uses. Changes by other processes arrive within a second. */
export interface SettingsInForce<C extends Counting = OneUnit> {
  /** Version 0, the policy's own, until the settings have been read. */
  readonly settings: VersionedSettings<C>
  /** The last known adaptive factor, 0.75 to 1.5; 1 before that. It only applies in mode `adaptive`. */
  readonly adaptiveFactor: number
}

/** Reads and changes the settings of all subjects. */
export interface QuotaSettings<C extends Counting = OneUnit> {
  /** Returns the stored settings, without names that the policy doesn't know. Version 0: the policy's own. */
  get(): Promise<VersionedSettings<C>>
  /** Returns the faults of the stored settings: unknown names, which stay stored, and invalid values. */
  faults(): Promise<readonly Fault[]>
  /**
   * Changes the members in the patch (JSON merge patch: objects are merged, `null` removes, lists are replaced). A
   * removed member gets its default, if it has one. Stored members that this policy doesn't know stay.
   *
   * @throws {QuotaError} `invalid_settings` naming every fault, `settings_conflict` if `ifVersion` isn't the stored
   * version
   */
  update(patch: DeepPartial<Settings<C>>, options?: WriteOptions): Promise<SettingsUpdate<C>>
  /** Stores a whole document. You may omit members that have a default. Throws like {@link update}. */
  replace(settings: SettingsDocument<C>, options?: WriteOptions): Promise<SettingsUpdate<C>>
}

/** A subject's layer, and how to write its settings. */
export interface SubjectOptions<C extends Counting = OneUnit> extends WriteOptions {
  /** @default the first layer that isn't shared */
  readonly layer?: C['names']['ownLayer'] | undefined
}

/** A part of a subject's settings. `version` and `revision` from a document that you read are ignored. */
export type SubjectSettingsPatch<C extends Counting = OneUnit> = DeepPartial<SubjectSettings<C>> & Partial<Versioned>

/** Reads and changes the settings of single subjects: overrides, bypass, plan and anchor. */
export interface QuotaSubjects<C extends Counting = OneUnit> {
  /** Returns a subject's settings. If nothing is stored, the version is 0 and every override is `null`. */
  get(key: string, options?: Pick<SubjectOptions<C>, 'layer'>): Promise<VersionedSubjectSettings<C>>
  /**
   * Replaces a subject's settings. Missing members and `null` mean the default. `version` and `revision` are ignored,
   * so you can write back what {@link get} returned. A first anchor applies immediately, a changed one from the next
   * period.
   *
   * @throws {QuotaError} `invalid_settings` naming every fault, `settings_conflict` if `ifVersion` isn't the stored
   * version
   */
  set(key: string, settings: SubjectSettingsPatch<C>, options?: SubjectOptions<C>): Promise<VersionedSubjectSettings<C>>
  /**
   * Changes the members in the patch and keeps the rest (JSON merge patch: objects are merged, lists and the anchor are
   * replaced, `null` means the default). Otherwise like {@link set}.
   */
  update(key: string, patch: SubjectSettingsPatch<C>, options?: SubjectOptions<C>): Promise<VersionedSubjectSettings<C>>
  /**
   * Removes a subject's settings. An anchor applies until its period ends. The engine remembers it, so the next anchor
   * counts as changed, not as first.
   */
  remove(key: string, options?: SubjectOptions<C>): Promise<void>
}

/** The open holds of an engine's subjects. */
export interface QuotaHolds<C extends Counting = OneUnit> {
  /**
   * Returns a subject's open holds, by expiry.
   *
   * @throws {QuotaError} `invalid_subject`, `holds_unsupported`
   */
  list(subject: C['names']['subject']): Promise<readonly Hold<C>[]>
  /**
   * Cancels a subject's hold of any process: refunds its tokens and frees its slots. A hold with a damaged record isn't
   * listed and has no ref. Resetting its subject removes it.
   *
   * @param ref from {@link list}
   * @returns whether the hold existed and was open
   * @throws {QuotaError} `invalid_subject`, `holds_unsupported`
   */
  release(subject: C['names']['subject'], ref: string): Promise<boolean>
  /**
   * Refunds expired holds, and emits `holdEnded` for each. Stores do this themselves within a second. Call it if you
   * can't wait, or to count open holds.
   *
   * @returns the number of open holds of all subjects, and the holds that it ended
   */
  sweep(): Promise<{ readonly open: number; readonly ended: readonly HoldEnd<C>[] }>
}

/** The payload of each event of an engine, by event name. */
export interface QuotaEvents<C extends Counting = OneUnit> {
  /** A request was admitted and charged. */
  admitted: AdmittedDecision<C>
  /** A request was refused. */
  refused: RefusedDecision<C>
  /**
   * Shadowed limits would have refused a request that was decided without them. Emitted after `admitted` or `refused`.
   * The decision's `shadowed` has these limits.
   */
  shadowed: Decision<C>
  /** A final charge took a limit across a threshold: a reservation counts at its commit. See `thresholds` in the options and the settings. */
  nearLimit: NearLimit<C>
  /** The effective settings changed. */
  settings: VersionedSettings<C>
  /** A stored document has members that the policy can't use. They stay stored, but have no effect. */
  settingsFault: {
    readonly of: 'settings' | { readonly layer: string; readonly key: string }
    readonly faults: readonly Fault[]
  }
  /** A request or a subject's settings name an unknown plan. Emitted once per version of the settings. */
  unknownPlan: UnknownPlan
  /** A hold expired. Only one process emits it, and polls every second while it has a listener. */
  holdEnded: HoldEnd<C>
  /** A commit was higher than its reservation. Emitted by the commit that settled the hold, never by a repeat. */
  overrun: QuotaOverrun<C>
  /** The store was unavailable, and the failure policy decided. Logged if there is no listener. */
  degraded: { readonly category: string; readonly allowed: boolean; readonly error: unknown }
  /** Tokens or slots were refunded, so an earlier refused request may fit now. */
  freed: Freed<C>
  /** A request started waiting in a queue; see `@scoregw/quota/waiting`. */
  waiting: WaitBegin
  /** A request left a waiting queue, or was refused by it. */
  waited: WaitEnd
  /** The engine is closing. No other event follows. */
  closed: undefined
  /** A decision was made, with any outcome. Emitted before the event that describes the outcome. */
  decided: DecisionTime
}

/** Which tokens or slots were refunded: by a settlement, a reset, a release, or a hold that expired. */
export interface Freed<C extends Counting = OneUnit> {
  readonly category: C['names']['category']
  /** Absent for a hold that expired or was released: its keys are unknown. */
  readonly subject?: C['names']['subject'] | undefined
}

/** A request in a waiting queue. */
export interface WaitBegin {
  readonly category: string
  /** How many requests wait in this process's queue. */
  readonly size: number
}

/** How a request left a waiting queue. */
export interface WaitEnd extends WaitBegin {
  readonly outcome: WaitOutcome
  /** The time from request to response, in milliseconds with fractions. */
  readonly waitedMs: number
}

/**
 * Why a waiting queue refused a request.
 *
 * - `timeout`: `maxWaitMs` has passed.
 * - `too_late`: nothing will fit within `maxWaitMs`. Refused immediately.
 * - `too_large`: the cost is above a limit, so waiting won't help.
 * - `queue_full`: too many requests are already waiting.
 */
export type WaitRefusal = 'timeout' | 'too_late' | 'too_large' | 'queue_full'

/** `admitted`, a refusal, or: the caller aborted, the engine closed, or an error was thrown. */
export type WaitOutcome = 'admitted' | WaitRefusal | 'aborted' | 'closed' | 'failed'

/** How long a decision took. Only measured while there is a listener. */
export interface DecisionTime {
  readonly category: string
  /** `degraded`: the failure policy decided. */
  readonly outcome: 'admitted' | 'refused' | 'degraded'
  /** Whether the request was admitted. */
  readonly allowed: boolean
  /**
   * The time from request to decision, in milliseconds with fractions. Includes reading settings, the store, and
   * waiting for both.
   */
  readonly durationMs: number
}

export type QuotaEvent = keyof QuotaEvents
export type QuotaListener<E extends QuotaEvent, C extends Counting = OneUnit> = (event: QuotaEvents<C>[E]) => void

/**
 * A quota engine. It decides each request against all windows of all layers, atomically.
 *
 * Every call may throw these errors ({@link QuotaError}): `unknown_operation`, `invalid_cost` or `invalid_subject` for
 * an invalid request; `quota_unavailable` if a store is unavailable and the failure policy is `closed`; `quota_closed`.
 */
export interface TableQuota<Operation extends string = string, C extends Counting = OneUnit> {
  readonly policy: Policy<Operation, C>
  /** Whether this is a {@link SyncQuota}: both stores are synchronous. */
  readonly sync: boolean
  /** The lifetime of holds whose requests don't set one, in milliseconds; `undefined`: the store has no holds. */
  readonly holdTtlMs: number | undefined

  /**
   * Decides a request. If it is admitted, it is charged in every window.
   *
   * @throws {QuotaError} `reservation_required` for operations that need a slot
   */
  consume(request: QuotaRequest<Operation, C>): Promise<Decision<C>>

  /** Returns the decision that {@link consume} would make now. Charges nothing. */
  peek(request: QuotaRequest<Operation, C>, options?: PeekOptions): Promise<Decision<C>>

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

  /** Returns a subject's limits, with what is used and what remains. Charges nothing. */
  status(subject: C['names']['subject'], options?: StatusOptions<C>): Promise<QuotaStatus<C>>

  /**
   * Resets a subject's windows to 0 used. Slots stay taken.
   *
   * @throws {QuotaError} `invalid_reset` for an unknown layer or category
   */
  reset(subject: C['names']['subject'], options?: ResetOptions<C>): Promise<void>

  /** Returns the settings that this process currently uses. Calls no store. */
  inForce(): SettingsInForce<C>

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
export interface QuotaInTransaction<Operation extends string = string, C extends Counting = OneUnit> {
  /**
   * Like `quota.consume()`, but ignores `signal`, and the failure policy doesn't apply.
   *
   * @throws {QuotaError} `reservation_required`; `quota_unavailable` if the store is unavailable: roll the transaction
   * back
   */
  consume(request: QuotaRequest<Operation, C>): Promise<Decision<C>>
}

/** An engine with synchronous stores. It also has calls that return without a promise. */
export interface SyncTableQuota<Operation extends string = string, C extends Counting = OneUnit>
  extends TableQuota<Operation, C> {
  readonly sync: true
  /** Like `consume`, but ignores `signal`. */
  consumeSync(request: QuotaRequest<Operation, C>): Decision<C>
  peekSync(request: QuotaRequest<Operation, C>): Decision<C>
  reserveSync(request: ReserveRequest<Operation, C>): SyncReservation<C>
  statusSync(subject: C['names']['subject'], options?: StatusOptions<C>): QuotaStatus<C>
}
