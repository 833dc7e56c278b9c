import type { AdmittedDecision, Decision, RefusedDecision, WindowStatus } from '../decision/decision.ts'
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
}

/** Tokens are held for the work; commit what it cost, or cancel. What nobody settles stays charged. */
export interface HeldReservation {
  readonly status: 'reserved'
  readonly allowed: true
  readonly decision: AdmittedDecision
  /**
   * The work was done. Settles once; later calls do nothing, and calls meanwhile share its promise. Where it rejects and
   * it is certain that nothing was done, or the reservation has an id, it may be called again.
   *
   * @param actual tokens it cost, at most the tokens reserved; the rest goes back. Default: all of them
   * @throws {QuotaError} `commit_above_reservation`, `invalid_cost`
   */
  commit(actual?: number): Promise<void>
  /** The work was not done: the tokens go back to the windows they came from. Settles once. */
  cancel(): Promise<void>
}

/** A reservation that holds nothing. */
export interface EmptyReservation {
  readonly allowed: false
  /** @throws {QuotaError} `commit_refused` for a refused one, since work was done without admission; else nothing */
  commit(actual?: number): Promise<void>
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
 */
export interface RepeatedReservation extends EmptyReservation {
  readonly status: 'duplicate' | 'cancelled'
  readonly decision?: undefined
}

export type Reservation = HeldReservation | RefusedReservation | RepeatedReservation

/** A reservation of an engine whose stores answer at once. */
export type SyncReservation =
  | Synchronous<HeldReservation>
  | Synchronous<RefusedReservation>
  | Synchronous<RepeatedReservation>

type Synchronous<T extends { commit: unknown; cancel: unknown }> = Omit<T, 'commit' | 'cancel'> & {
  commit(actual?: number): void
  cancel(): void
}

/** What came of {@link Quota.run}: the work's value, or why there was no work. */
export type RunResult<T> =
  | { readonly allowed: true; readonly decision: AdmittedDecision; readonly value: T }
  | { readonly allowed: false; readonly status: 'refused'; readonly decision: RefusedDecision }
  | { readonly allowed: false; readonly status: 'duplicate' | 'cancelled'; readonly decision?: undefined }

/** The windows that apply to a subject, by category, in the policy's order. */
export interface QuotaStatus {
  readonly subject: Subject
  /** Instant of the look by the store's clock, epoch milliseconds. */
  readonly now: number
  readonly settingsVersion: number
  readonly windows: Readonly<Record<string, readonly WindowStatus[]>>
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

/** A window crossed 80 % of its limit; told once for each opening of the window. */
export interface NearLimit {
  readonly subject: Subject
  readonly decision: Decision
  readonly window: WindowStatus
}
