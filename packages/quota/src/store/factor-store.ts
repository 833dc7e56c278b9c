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
 * - `errors_high`: errors are certainly above the high rate, so the factor falls, waits to fall, or is at its lowest. Also
 *   a fall that undoes rises, in several steps
 * - `errors_low`: errors are below the low rate, so the factor rises, waits to rise, or is at its highest
 * - `trial`: a level that failed is tried for some minutes, or errors of that trial may still show
 * - `little_traffic`: there are too few calls to judge, so the factor moves towards 1, or stays
 * - `in_vain`: at the lowest factor, errors stayed high for hours, so the factor returns to 1 and stays there
 * - `steady`: the counts are no reason to move
 */
export type FactorReasonCode = 'errors_high' | 'errors_low' | 'trial' | 'little_traffic' | 'in_vain' | 'steady'

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
  /** The lowest level at which errors began, and when it is tried again; `null`: no level has failed. */
  readonly failed: FailedLevel | null
}

/** A level at which errors began. No rise reaches it, except for a trial from `retryAt` on. */
interface FailedLevel {
  readonly levelHundredths: number
  /** In epoch milliseconds. */
  readonly retryAt: number
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
  readonly tickedAt: number | null
  /** The result of the last tick; `null` before the first. */
  readonly reason: FactorReason | null
  /** The last moves, newest first. */
  readonly history: readonly FactorReason[]
  readonly memory: FactorMemory
}

/** What the adaptive law remembers, at most 2 kB of JSON. Times are epoch milliseconds. */
export interface FactorMemory {
  /** Rises of the last hours that may have caused errors, the oldest first. */
  readonly rises: readonly { readonly at: number; readonly fromHundredths: number }[]
  readonly failed: FailedLevel | null
  /** The last wait before a failed level was tried again, in milliseconds; 0 before the first. */
  readonly retryWaitMs: number
  /** A trial of the failed level: up until `endsAt`, then back home until its errors must have shown. */
  readonly trial: {
    readonly homeHundredths: number
    readonly levelHundredths: number
    readonly endsAt: number
  } | null
  /** The level that the factor is returning to, step by step. `null`: it isn't. */
  readonly returningTo: number | null
  /** Since when errors have been high; `null`: they aren't. */
  readonly troubleSince: number | null
  /** How long the last trouble took to pass, in milliseconds; 0 before the first. */
  readonly troubleMs: number
  /** How much the counts since the last rise speak for errors, 0 to 20. */
  readonly evidence: number
  /** Since when every tick has seen too little traffic; `null`: the last one saw enough. */
  readonly quietSince: number | null
  /** The error rate at the lowest factor when the law gave up to lower it. `null`: it hasn't. */
  readonly vainRate: number | null
  /** How long errors must stay high at the lowest factor before the law gives up, in milliseconds. */
  readonly vainWaitMs: number
}
