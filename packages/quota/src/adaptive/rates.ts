import type { AdaptiveCounts, FactorReason } from '../store/factor-store.ts'
import type { MinuteOutcomes, OutcomeStore } from '../store/outcomes.ts'

/** The law counts this many completed minutes: long enough to prove a rate, short enough to forget an outage. */
export const WINDOW_MINUTES = 30
/** The last minutes of the window are judged by themselves: trouble that is over is no reason to fall. */
export const RECENT_MINUTES = 5
/** With fewer recent calls, they show nothing, and the whole window is judged instead. */
export const MIN_RECENT_CALLS = 20
/** Half-width of the bounds in standard deviations: 95 % of the rates that could have caused the counts. */
const Z = 1.96

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

/**
 * Reads the counts that a tick in this minute uses: those of the 30 minutes before it.
 *
 * @param minute in whole minutes since the epoch
 * @throws the store's error
 */
export async function readAdaptiveCounts(outcomes: OutcomeStore, minute: number): Promise<AdaptiveCounts> {
  return adaptiveCounts(await outcomes.read(minute - WINDOW_MINUTES, minute), minute - RECENT_MINUTES)
}

/** Bounds of the error rate in the window, and the lower bound in the recent minutes. */
export type Bounds = FactorReason['bounds']

export function boundsOf(counts: AdaptiveCounts): Bounds {
  const { low, high } = wilsonBounds(counts.errors, counts.calls, Z)
  const { calls, errors } = recently(counts)
  return { low, high, recentLow: wilsonBounds(errors, calls, Z).low }
}

/** The counts that show how the service does now: the recent ones, or the window's where these are few. */
export function recently({ calls, errors, recentCalls, recentErrors }: AdaptiveCounts): {
  readonly calls: number
  readonly errors: number
} {
  return recentCalls >= MIN_RECENT_CALLS ? { calls: recentCalls, errors: recentErrors } : { calls, errors }
}

/**
 * How much the counts speak for one error rate against a lower one: the logarithm of how many times likelier they are
 * (A. Wald, "Sequential Tests of Statistical Hypotheses", Annals of Mathematical Statistics 16, 1945).
 */
export function evidenceOf(
  { calls, errors }: { readonly calls: number; readonly errors: number },
  lower: number,
  higher: number,
): number {
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
