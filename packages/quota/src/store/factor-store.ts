import type { Answer } from './quota-store.ts'

/** What a {@link FactorStore} holds. */
export interface VersionedFactor {
  /** Counts the writes: 1, 2, 3 ... */
  readonly version: number
  /** The minute of the tick that wrote it, in whole minutes since the epoch. */
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
   * Whether every call returns synchronously.
   *
   * @default false: answers are awaited
   */
  readonly sync?: boolean | undefined
  /** `undefined`: nothing was ever written, and the factor is 1. */
  read(): Answer<VersionedFactor | undefined>
  /**
   * Writes only if `expectedVersion` is stored (0: nothing is) and `minute` is not, so that no minute is ticked twice.
   *
   * @returns whether it wrote
   */
  compareAndSet(expectedVersion: number, minute: number, state: FactorState): Answer<boolean>
  /** Calls `listener` within one second of a write by any process, until you call the returned function. */
  watch(listener: () => void): () => void
  close?(): void | PromiseLike<void>
}

/** The counts that the adaptive law uses: calls, and those of them that ended in a server's internal error. */
export interface AdaptiveCounts {
  /** Calls of the whole window (30 minutes), without refusals and the service's own 503s about quotas. */
  readonly calls: number
  /** Those of `calls` without an answer or with status 500 and above. */
  readonly errors: number
  /** Those of `calls` in the window's last minutes (5). */
  readonly recentCalls: number
  /** Those of `errors` in the window's last minutes (5). */
  readonly recentErrors: number
}

/**
 * Why the factor moved or stayed where it is.
 *
 * Moves:
 * - `errors_high`: down, since errors are surely above the high rate, in the whole window and recently, or since the last rise
 * - `returned`: further down, to the factor before the rises that are to blame
 * - `errors_low`: up, since errors are below the low rate
 * - `probe`: up for a few minutes, to test the wall
 * - `probe_over`: back down, to wait for what the probe caused
 * - `probe_failed`: errors came during or after the probe; back down if it's still up
 * - `probe_passed`: up to the level that the probe tested without errors
 * - `quiet_fall`, `quiet_rise`: a step towards 1, since there is too little traffic to judge by
 *
 * The factor stays:
 * - `steady`: the counts call for no move
 * - `waiting`: they call for one, and the last move is too recent
 * - `capped`: they call for a rise, and the wall is in the way until its next probe
 * - `probing`: a probe is running
 * - `listening`: a probe is over, and what it caused may still show
 * - `at_limit`: they call for a move beyond the lowest or the highest factor
 * - `quiet`: too little traffic to judge by, and no step towards 1 is due
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

/** The result of one tick, and the numbers behind it. Factors are hundredths, instants epoch milliseconds. */
export interface FactorReason {
  readonly code: FactorReasonCode
  readonly at: number
  readonly fromHundredths: number
  readonly toHundredths: number
  readonly counts: AdaptiveCounts
  /** Wilson bounds of the error rate: of the whole window, and the lower one of the last minutes. Fractions 0..1. */
  readonly bounds: { readonly low: number; readonly high: number; readonly recentLow: number }
  /**
   * The highest factor that a rise may reach after this tick, except for a probe; `null`: the highest factor of all.
   */
  readonly capHundredths: number | null
  /**
   * Where errors began: at one of these levels. It may be probed from `retryAt` on, in epoch milliseconds. `null`: at no
   * level known. Missing in reasons of versions before walls.
   */
  readonly wall?: { readonly lowHundredths: number; readonly highHundredths: number; readonly retryAt: number } | null
  /** No counts can lower the factor before this instant; `null`: it is at its lowest. */
  readonly nextFallAt: number | null
  /** No counts of enough traffic can raise the factor before this instant; `null`: it is at its highest. */
  readonly nextRiseAt: number | null
}

/** The adaptive factor, and what the law must remember. Plain JSON; instants are epoch milliseconds. */
export interface FactorState {
  /** The factor in hundredths: 100 is 1. */
  readonly factorHundredths: number
  readonly lastMoveAt: number | null
  /** Since when every tick saw too little traffic; `null`: the last one saw enough. */
  readonly quietSince: number | null
  readonly tickedAt: number | null
  /** The result of the last tick; `null` before the first. */
  readonly reason: FactorReason | null
  /** The last moves, newest first. */
  readonly history: readonly FactorReason[]
  /** The memory of the law. Missing in states of versions before walls, which are taken over. */
  readonly learned?: Learned | undefined
  /** For processes of versions before walls: no rise goes above this. */
  readonly cap: { readonly hundredths: number; readonly since: number } | null
  /** For the same processes: how long a step of the cap's recovery takes. */
  readonly capRecoveryMs: number
  /** For the same processes. */
  readonly lastRiseAt: number | null
  /** For the same processes. */
  readonly lastFallAt: number | null
}

/** The memory of the adaptive law, at most 2 kB of JSON. Instants are epoch milliseconds. */
export interface Learned {
  /** What the law is doing. */
  readonly phase:
    | { readonly kind: 'free' }
    /** Returns to a level that was good. */
    | { readonly kind: 'returning'; readonly toHundredths: number }
    /** Tests a level of the wall: `probing` there, or `listening` back home. */
    | {
        readonly kind: 'probing' | 'listening'
        readonly homeHundredths: number
        readonly levelHundredths: number
        readonly until: number
      }
  /** Levels at which errors may begin, from low to high. No probe before `retryAt`. */
  readonly wall: {
    readonly lowHundredths: number
    readonly highHundredths: number
    readonly retryAt: number
    /** Whether the highest level passed a short probe; it must also pass a longer one. */
    readonly probed: 'never' | 'once'
  } | null
  /** Rises of the last hours that may have caused errors, oldest first. */
  readonly rises: readonly { readonly at: number; readonly fromHundredths: number }[]
  /** When errors made the factor fall, until they are gone; with the rises before it. */
  readonly trouble: { readonly since: number; readonly fromHundredths: number; readonly rises: Learned['rises'] } | null
  /** How long the last trouble took to pass, in milliseconds; 0 before the first. */
  readonly responseMs: number
  /** How long the wall last kept probes away, in milliseconds; 0 before the first wall. */
  readonly probeWaitMs: number
  /** Probes left at an instant; more are earned from then on. `null`: there was no probe yet. */
  readonly probes: { readonly left: number; readonly since: number } | null
  /** How strongly the counts since the last rise or probe indicate high errors, 0 to 20. */
  readonly evidence: number
  /** Since when every tick found errors low; `null`: the last one did not. */
  readonly lowSince: number | null
}
