import type { Answer } from './quota-store.ts'

/** The contents of a {@link FactorStore}. */
export interface VersionedFactor {
  /** Counts the writes: 1, 2, 3 ... */
  readonly version: number
  /** The minute of the tick that wrote it, in whole minutes since the epoch. */
  readonly minute: number
  readonly state: FactorState
}

/**
 * A store of the adaptive factor: one row for all processes that share it. Its version is separate from that of the
 * settings, so that moves of the factor never conflict with an administrator's write.
 *
 * In SQL, `compareAndSet` is one statement: `UPDATE factor SET version = version + 1, minute = :minute, state = :state
 * WHERE version = :expectedVersion AND minute <> :minute`. For version 0, it is an `INSERT` that does nothing if the row
 * exists.
 */
export interface FactorStore {
  /**
   * Whether every call returns synchronously.
   *
   * @default false: answers are awaited
   */
  readonly sync?: boolean | undefined
  /** `undefined`: nothing has been written, so the factor is 1. */
  read(): Answer<VersionedFactor | undefined>
  /**
   * Writes only if `expectedVersion` is stored (0: nothing is) and `minute` isn't, so that no minute is ticked twice.
   *
   * @returns whether it wrote
   */
  compareAndSet(expectedVersion: number, minute: number, state: FactorState): Answer<boolean>
  /** Calls `listener` within one second of a write by any process, until you call the returned function. */
  watch(listener: () => void): () => void
  close?(): void | PromiseLike<void>
}

/** The counts that the adaptive law uses: calls, and those that ended in a server error. */
export interface AdaptiveCounts {
  /** Calls in the whole window (30 minutes), without refusals and the service's own 503s about quotas. */
  readonly calls: number
  /** The part of `calls` without a response, or with status 500 and above. */
  readonly errors: number
  /** The part of `calls` in the window's last minutes (5). */
  readonly recentCalls: number
  /** The part of `errors` in the window's last minutes (5). */
  readonly recentErrors: number
}

/**
 * Why the factor moved or stayed.
 *
 * Moves:
 *
 * - `errors_high`: down, because errors are certainly above the high rate, in the whole window and recently, or since the
 *   last rise
 * - `returned`: further down, to the factor before the suspected rises
 * - `errors_low`: up, because errors are below the low rate
 * - `probe`: up for a few minutes, to test the wall
 * - `probe_over`: back down, to wait for errors that the probe may have caused
 * - `probe_failed`: errors came during or after the probe; back down if it is still up
 * - `probe_passed`: up to the level that the probe tested without errors
 * - `quiet_fall`, `quiet_rise`: a step towards 1, because there is too little traffic to judge
 *
 * The factor stays:
 *
 * - `steady`: the counts are no reason to move
 * - `waiting`: they are, but the last move is too recent
 * - `capped`: they are a reason to rise, but the wall prevents it until the next probe
 * - `probing`: a probe is running
 * - `listening`: a probe is over, and errors that it caused may still show
 * - `at_limit`: they are a reason to move beyond the lowest or highest factor
 * - `quiet`: there is too little traffic to judge, and no step towards 1 is due
 */
export type FactorReasonCode =
  | 'errors_high'
  | 'returned'
  | 'errors_low'
  | 'probe'
  | 'probe_over'
  | 'probe_failed'
  | 'probe_passed'
  | 'quiet_fall'
  | 'quiet_rise'
  | 'steady'
  | 'waiting'
  | 'capped'
  | 'probing'
  | 'listening'
  | 'at_limit'
  | 'quiet'

/** The result of a tick, and its inputs. Factors are hundredths, times are epoch milliseconds. */
export interface FactorReason {
  readonly code: FactorReasonCode
  readonly at: number
  readonly fromHundredths: number
  readonly toHundredths: number
  readonly counts: AdaptiveCounts
  /**
   * Wilson bounds of the error rate in the whole window, and the lower bound in the last minutes. Fractions from 0 to
   * 1.
   */
  readonly bounds: { readonly low: number; readonly high: number; readonly recentLow: number }
  /**
   * The highest factor that a rise may reach after this tick, except for a probe; `null`: the highest factor of all.
   */
  readonly capHundredths: number | null
  /**
   * The levels where errors started, at one of them. Probes are possible from `retryAt` on, in epoch milliseconds.
   * `null`: unknown.
   */
  readonly wall: { readonly lowHundredths: number; readonly highHundredths: number; readonly retryAt: number } | null
  /** No counts can lower the factor before this time; `null`: it is at its lowest. */
  readonly nextFallAt: number | null
  /** No counts with enough traffic can raise the factor before this time; `null`: it is at its highest. */
  readonly nextRiseAt: number | null
}

/** The version of {@link FactorState} that this library writes and reads. */
export const FACTOR_FORMAT = 1

/** The adaptive factor, and the memory of the law. Plain JSON. Times are epoch milliseconds. */
export interface FactorState {
  /** The version of this form: see `docs/reference/versions.md`. */
  readonly format: typeof FACTOR_FORMAT
  /** The factor in hundredths: 100 is 1. */
  readonly factorHundredths: number
  readonly lastMoveAt: number | null
  /** Since when every tick has seen too little traffic; `null`: the last one saw enough. */
  readonly quietSince: number | null
  readonly tickedAt: number | null
  /** The result of the last tick; `null` before the first. */
  readonly reason: FactorReason | null
  /** The last moves, newest first. */
  readonly history: readonly FactorReason[]
  /** The memory of the law. */
  readonly learned: Learned
}

/** The memory of the adaptive law, at most 2 kB of JSON. Times are epoch milliseconds. */
export interface Learned {
  /** The current activity of the law. */
  readonly phase:
    | { readonly kind: 'free' }
    /** Returning to a level that was good. */
    | { readonly kind: 'returning'; readonly toHundredths: number }
    /** Testing a level of the wall: `probing` there, or `listening` back home. */
    | {
        readonly kind: 'probing' | 'listening'
        readonly homeHundredths: number
        readonly levelHundredths: number
        readonly until: number
      }
  /** Levels at which errors may start, from low to high. No probe before `retryAt`. */
  readonly wall: {
    readonly lowHundredths: number
    readonly highHundredths: number
    readonly retryAt: number
    /** Whether the highest level has passed a short probe. It must also pass a longer one. */
    readonly probed: 'never' | 'once'
  } | null
  /** Rises of the last hours that may have caused errors, the oldest first. */
  readonly rises: readonly { readonly at: number; readonly fromHundredths: number }[]
  /** When errors made the factor fall, and the rises before that. `null`: errors have passed. */
  readonly trouble: { readonly since: number; readonly fromHundredths: number; readonly rises: Learned['rises'] } | null
  /** How long the last errors took to pass, in milliseconds; 0 before the first. */
  readonly responseMs: number
  /** The last wait between a wall and its probe, in milliseconds; 0 before the first wall. */
  readonly probeWaitMs: number
  /** The probes left at `since`. More are earned from then on. `null`: no probe yet. */
  readonly probes: { readonly left: number; readonly since: number } | null
  /** The evidence of high errors since the last rise or probe, 0 to 20. */
  readonly evidence: number
  /** Since when every tick has found low errors; `null`: the last one didn't. */
  readonly lowSince: number | null
}
