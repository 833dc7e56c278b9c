import * as z from 'zod'
import { ADAPTIVE_HUNDREDTHS } from '../policy/limits.ts'
import { parseOptions } from '../policy/options.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/** The constants of the adaptive law: factors and steps in whole hundredths, rates as fractions, times in milliseconds. */
export interface AdaptiveConstants {
  /**
   * How many closed minutes are counted.
   * @default 30
   */
  readonly windowMinutes: number
  /**
   * How many of them, the last ones, are counted apart.
   * @default 5
   */
  readonly recentMinutes: number
  /**
   * Width of the Wilson bounds in standard deviations.
   * @default 1.96
   */
  readonly z: number
  /**
   * Error rate below which the factor may rise.
   * @default 0.005
   */
  readonly lowRate: number
  /**
   * Error rate above which the factor falls.
   * @default 0.02
   */
  readonly highRate: number
  /**
   * Calls in the window below which traffic is too little to judge by.
   * @default 200
   */
  readonly minCalls: number
  /**
   * Calls in the last minutes below which no fall is made.
   * @default 20
   */
  readonly minRecentCalls: number
  /**
   * The lowest factor, 75 to 100.
   * @default 75
   */
  readonly minHundredths: number
  /**
   * The highest factor, 100 to 150.
   * @default 150
   */
  readonly maxHundredths: number
  /** @default 10 */
  readonly fallStepHundredths: number
  /** @default 5 */
  readonly riseStepHundredths: number
  /**
   * Least time from the last move to a fall.
   * @default 300_000 (5 minutes)
   */
  readonly fallWaitMs: number
  /**
   * Least time from the last move to a rise.
   * @default 1_800_000 (30 minutes)
   */
  readonly riseWaitMs: number
  /**
   * A fall so soon after a rise sets the cap.
   * @default 5_400_000 (90 minutes)
   */
  readonly capAfterRiseMs: number
  /**
   * How far below the factor before the fall the cap is set.
   * @default 5
   */
  readonly capBelowHundredths: number
  /**
   * A step of the cap's recovery.
   * @default 5
   */
  readonly capStepHundredths: number
  /**
   * Time of such a step while the cap is at or above 1.
   * @default 14_400_000 (4 hours)
   */
  readonly capRecoveryAboveMs: number
  /**
   * Time of such a step below 1, at first.
   * @default 1_800_000 (30 minutes)
   */
  readonly capRecoveryMinMs: number
  /**
   * Time of such a step below 1, at most.
   * @default 14_400_000 (4 hours)
   */
  readonly capRecoveryMaxMs: number
  /**
   * A fall after a rise, so soon after the fall before, doubles the time of a step below 1.
   * @default 86_400_000 (24 hours)
   */
  readonly relapseMs: number
  /**
   * How long traffic must be too little before the factor drifts.
   * @default 1_800_000 (30 minutes)
   */
  readonly quietHoldMs: number
  /**
   * Least time from the last move to a step of the drift.
   * @default 1_800_000 (30 minutes)
   */
  readonly driftWaitMs: number
  /**
   * A step of the drift towards 1.
   * @default 5
   */
  readonly driftStepHundredths: number
  /**
   * How many moves are remembered.
   * @default 50
   */
  readonly historyLength: number
}

const step = (initial: number): z.ZodDefault<z.ZodInt> => z.int().min(1).max(75).default(initial)
const rate = (initial: number): z.ZodDefault<z.ZodNumber> => z.number().gt(0).lt(1).default(initial)
const time = (initial: number): z.ZodDefault<z.ZodInt> =>
  z
    .int()
    .min(MINUTE_MS)
    .max(30 * 24 * HOUR_MS)
    .default(initial)

const schema: z.ZodType<AdaptiveConstants> = z
  .strictObject({
    windowMinutes: z.int().min(1).max(1440).default(30),
    recentMinutes: z.int().min(1).max(1440).default(5),
    z: z.number().min(0).max(10).default(1.96),
    lowRate: rate(0.005),
    highRate: rate(0.02),
    minCalls: z
      .int()
      .min(0)
      .max(10 ** 9)
      .default(200),
    minRecentCalls: z
      .int()
      .min(1)
      .max(10 ** 9)
      .default(20),
    minHundredths: z.int().min(ADAPTIVE_HUNDREDTHS.min).max(100).default(ADAPTIVE_HUNDREDTHS.min),
    maxHundredths: z.int().min(100).max(ADAPTIVE_HUNDREDTHS.max).default(ADAPTIVE_HUNDREDTHS.max),
    fallStepHundredths: step(10),
    riseStepHundredths: step(5),
    fallWaitMs: time(5 * MINUTE_MS),
    riseWaitMs: time(30 * MINUTE_MS),
    capAfterRiseMs: time(90 * MINUTE_MS),
    capBelowHundredths: step(5),
    capStepHundredths: step(5),
    capRecoveryAboveMs: time(4 * HOUR_MS),
    capRecoveryMinMs: time(30 * MINUTE_MS),
    capRecoveryMaxMs: time(4 * HOUR_MS),
    relapseMs: time(24 * HOUR_MS),
    quietHoldMs: time(30 * MINUTE_MS),
    driftWaitMs: time(30 * MINUTE_MS),
    driftStepHundredths: step(5),
    historyLength: z.int().min(1).max(1_000).default(50),
  })
  .refine(({ lowRate, highRate }) => lowRate < highRate, { path: ['lowRate'], error: 'expected less than highRate' })
  .refine(({ recentMinutes, windowMinutes }) => recentMinutes <= windowMinutes, {
    path: ['recentMinutes'],
    error: 'expected at most windowMinutes',
  })
  .refine(({ capRecoveryMinMs, capRecoveryMaxMs }) => capRecoveryMinMs <= capRecoveryMaxMs, {
    path: ['capRecoveryMinMs'],
    error: 'expected at most capRecoveryMaxMs',
  })

/**
 * The law's constants: those given, checked, and the defaults of the others.
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function adaptiveConstants(given: Partial<AdaptiveConstants> = {}): AdaptiveConstants {
  return parseOptions('the adaptive law', schema, given)
}

/** The constants when none are given. */
export const ADAPTIVE_DEFAULTS: AdaptiveConstants = adaptiveConstants()
