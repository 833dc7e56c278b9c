import type { AdaptiveCounts, FactorReason } from '../store/factor-store.ts'
import type { MinuteOutcomes } from '../store/outcome-store.ts'
import type { AdaptiveConstants } from './constants.ts'

/**
 * Sums up the minutes of the window for the law. Refusals and the service's own 503s about quotas don't count: they
 * reflect quotas and not the service's health.
 *
 * @param recentFrom the first minute whose calls are recent
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

/** Bounds of the error rate in the window, and the lower bound in the recent minutes. */
export type Bounds = FactorReason['bounds']

export function boundsOf({ errors, calls, recentErrors, recentCalls }: AdaptiveCounts, z: number): Bounds {
  const { low, high } = wilsonBounds(errors, calls, z)
  return { low, high, recentLow: wilsonBounds(recentErrors, recentCalls, z).low }
}

/** Whether errors are certainly above the high rate, both in the window and in the recent minutes. */
export function areErrorsHigh(counts: AdaptiveCounts, bounds: Bounds, constants: AdaptiveConstants): boolean {
  const { highRate, minRecentCalls } = constants
  return bounds.low > highRate && counts.recentCalls >= minRecentCalls && bounds.recentLow > highRate
}

/**
 * Whether errors are low. At factor 1 and above, they must certainly be below the low rate. Below 1, it's enough that
 * they seem to be.
 */
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
 * Returns the evidence for the higher of two error rates: the log-likelihood ratio of the counts, for Poisson counts.
 * Summed over time, it detects a change sooner than a window does (Wald's sequential test; Page's CUSUM).
 */
export function evidenceOf(errors: number, calls: number, lower: number, higher: number): number {
  return errors * Math.log(higher / lower) - calls * (higher - lower)
}

/** Bounds of a rate, as fractions from 0 to 1. */
export interface RateBounds {
  readonly low: number
  readonly high: number
}

/**
 * Returns the Wilson score interval for a rate of `events` in `trials`, `z` standard deviations wide on each side
 * (1.96: 95 %). Without trials it is 0 to 1.
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
