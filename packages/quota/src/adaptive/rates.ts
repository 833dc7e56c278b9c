import type { AdaptiveCounts, FactorReason } from '../store/factor-store.ts'
import type { MinuteOutcomes } from '../store/outcome-store.ts'
import type { AdaptiveConstants } from './constants.ts'

/**
 * The counts that the law judges by, from the minutes of its window. Refusals and the service's own 503s about quotas are
 * left out, since they reflect quotas and not health.
 *
 * @param recentFrom the minute from which calls count as recent
 */
export function adaptiveCounts(minutes: readonly MinuteOutcomes[], recentFrom: number): AdaptiveCounts {
  let [calls, errors, recentCalls, recentErrors] = [0, 0, 0, 0]
  for (const { minute, ...counted } of minutes) {
    const minuteCalls = counted.calls - counted.refused - counted.quotaUnavailable
    const minuteErrors = counted.codeZero + counted.serverError - counted.quotaUnavailable
    calls += minuteCalls
    errors += minuteErrors
    if (minute < recentFrom) continue
    recentCalls += minuteCalls
    recentErrors += minuteErrors
  }
  return { calls, errors, recentCalls, recentErrors }
}

/** Bounds of the error rate in the whole window, and its lower bound in the last minutes. */
export type Bounds = FactorReason['bounds']

export function boundsOf({ errors, calls, recentErrors, recentCalls }: AdaptiveCounts, z: number): Bounds {
  const { low, high } = wilsonBounds(errors, calls, z)
  return { low, high, recentLow: wilsonBounds(recentErrors, recentCalls, z).low }
}

/** Errors are surely above the high rate, in the window and in its last minutes: the trouble is certain, and it lasts. */
export function areErrorsHigh(counts: AdaptiveCounts, bounds: Bounds, constants: AdaptiveConstants): boolean {
  const { highRate, minRecentCalls } = constants
  return bounds.low > highRate && counts.recentCalls >= minRecentCalls && bounds.recentLow > highRate
}

/** From 1 on errors must surely be below the low rate. On the way back to 1 it's enough that they seem to be. */
export function areErrorsLow(
  factorHundredths: number,
  counts: AdaptiveCounts,
  bounds: Bounds,
  { lowRate, highRate }: AdaptiveConstants,
): boolean {
  const recentlyLow = counts.recentErrors < lowRate * counts.recentCalls
  if (factorHundredths >= 100) return bounds.high < lowRate && recentlyLow
  const low = counts.errors < lowRate * counts.calls && bounds.high < highRate
  return low && (recentlyLow || bounds.recentLow < lowRate)
}

/**
 * How much a count speaks for the higher of two error rates: the logarithm of how much likelier it is there. Summed over
 * time it shows a change sooner than a window does (Wald's sequential test; Page's CUSUM).
 */
export function evidenceOf(errors: number, calls: number, lower: number, higher: number): number {
  return errors * Math.log(higher / lower) - calls * (higher - lower)
}

/** A range in which a rate lies, both ends fractions 0..1. */
export interface RateBounds {
  readonly low: number
  readonly high: number
}

/**
 * Wilson's score interval for a rate, from `events` in `trials`; `z` standard deviations wide on each side
 * (1.96: 95 %). No trials say nothing: 0 to 1.
 *
 * E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22 (1927).
 */
export function wilsonBounds(events: number, trials: number, z: number): RateBounds {
  if (trials === 0) return { low: 0, high: 1 }
  const rate = events / trials
  const z2 = z * z
  const scale = 1 + z2 / trials
  const middle = rate + z2 / (2 * trials)
  const spread = z * Math.sqrt((rate * (1 - rate) + z2 / (4 * trials)) / trials)
  return { low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) }
}
