import type { Answer } from './quota-store.ts'

/** What a {@link FactorStore} holds. */
export interface VersionedFactor {
  /** Counts the writes: 1, 2, 3 ... */
  readonly version: number
  /** The minute of the tick that wrote it, whole minutes since the epoch. */
  readonly minute: number
  readonly state: FactorState
}

/**
 * Where the adaptive factor lives: one row for all processes that share it, with a version of its own, apart from the
 * settings', so that its moves never come between an administrator's read and write.
 *
 * In SQL `compareAndSet` is one statement: `UPDATE factor SET version = version + 1, minute = :minute, state = :state
 * WHERE version = :expectedVersion AND minute <> :minute`, and an `INSERT` that yields to an existing row for version 0.
 */
export interface FactorStore {
  /**
   * Whether every call answers at once.
   * @default false: answers are awaited
   */
  readonly sync?: boolean | undefined
  /** `undefined`: nothing was ever written; the factor is 1. */
  read(): Answer<VersionedFactor | undefined>
  /**
   * Writes only if `expectedVersion` is stored (0: nothing is) and `minute` is not, so that no minute is ticked twice.
   * @returns whether it wrote
   */
  compareAndSet(expectedVersion: number, minute: number, state: FactorState): Answer<boolean>
  /** Calls `listener` within one second of a write, also by other processes, until the returned function is called. */
  watch(listener: () => void): () => void
  close?(): void | PromiseLike<void>
}

/** What the law of the adaptive mode looks at: calls, and those of them that ended in a server's internal error. */
export interface AdaptiveCounts {
  /** Calls of the whole window (30 minutes), without refusals and the service's own 503s about quotas. */
  readonly calls: number
  /** Of `calls`, those without an answer or with status 500 and above. */
  readonly errors: number
  /** `calls` of the last minutes (5) of the window. */
  readonly recentCalls: number
  /** `errors` of the last minutes (5) of the window. */
  readonly recentErrors: number
}

/**
 * Why the factor moved or stayed where it is.
 *
 * Moves:
 * - `errors_high`: down, since errors are surely above the high rate, in the whole window and of late
 * - `errors_low`: up, since errors are below the low rate
 * - `quiet_fall`, `quiet_rise`: a step towards 1, since there is too little traffic to judge by
 *
 * The factor stays:
 * - `steady`: the counts ask for no move
 * - `waiting`: they ask for one, and the last move is too recent
 * - `capped`: they ask for a rise, and the cap of an earlier fall is in the way
 * - `at_limit`: they ask for a move beyond the lowest or the highest factor
 * - `quiet`: too little traffic to judge by, and no step towards 1 is due
 */
export type FactorReasonCode =
  | 'errors_high'
  | 'errors_low'
  | 'quiet_fall'
  | 'quiet_rise'
  | 'steady'
  | 'waiting'
  | 'capped'
  | 'at_limit'
  | 'quiet'

/** What one tick did, and the numbers it came from. Factors are whole hundredths, instants epoch milliseconds. */
export interface FactorReason {
  readonly code: FactorReasonCode
  readonly at: number
  readonly fromHundredths: number
  readonly toHundredths: number
  readonly counts: AdaptiveCounts
  /** Wilson bounds of the error rate: of the whole window, and the lower one of the last minutes. Fractions 0..1. */
  readonly bounds: { readonly low: number; readonly high: number; readonly recentLow: number }
  /** What no rise goes above after this tick; `null`: nothing but the highest factor. */
  readonly capHundredths: number | null
  /** Before this instant no counts can lower the factor; `null`: it is at its lowest. */
  readonly nextFallAt: number | null
  /** Before this instant no counts of enough traffic can raise the factor; `null`: it is at its highest. */
  readonly nextRiseAt: number | null
}

/** Where the adaptive factor stands and what the law must remember. Plain JSON; instants are epoch milliseconds. */
export interface FactorState {
  /** The factor in whole hundredths: 100 is 1. */
  readonly factorHundredths: number
  /** What no rise goes above, and since when its next step of recovery is under way; `null`: no cap. */
  readonly cap: { readonly hundredths: number; readonly since: number } | null
  /** How long a cap below 1 takes for a step of recovery, in milliseconds. */
  readonly capRecoveryMs: number
  readonly lastMoveAt: number | null
  /** The last move up, also one for want of traffic. */
  readonly lastRiseAt: number | null
  /** The last move down for errors. */
  readonly lastFallAt: number | null
  /** Since when every tick saw too little traffic; `null`: the last one saw enough. */
  readonly quietSince: number | null
  readonly tickedAt: number | null
  /** What the last tick did; `null` before the first. */
  readonly reason: FactorReason | null
  /** The last moves, newest first. */
  readonly history: readonly FactorReason[]
}
