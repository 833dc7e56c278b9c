import type { Fault } from '../errors/quota-error.ts'
import { type Check, where, wholeNumber, withDefault } from '../options/checks.ts'
import { optionsParser } from '../options/options-parser.ts'
import { ADAPTIVE_HUNDREDTHS } from '../policy/limits.ts'

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

/** What each constant is when it is not given, and what it may be. */
const CONSTANTS: { readonly [K in keyof AdaptiveConstants]: readonly [value: number, check: () => Check<number>] } = {
  windowMinutes: [30, minutes],
  recentMinutes: [5, minutes],
  z: [1.96, () => where((value) => typeof value === 'number' && value >= 0 && value <= 10, 'a number from 0 to 10')],
  lowRate: [0.005, rate],
  highRate: [0.02, rate],
  minCalls: [200, () => wholeNumber(0, 10 ** 9)],
  minRecentCalls: [20, () => wholeNumber(1, 10 ** 9)],
  minHundredths: [ADAPTIVE_HUNDREDTHS.min, () => wholeNumber(ADAPTIVE_HUNDREDTHS.min, 100)],
  maxHundredths: [ADAPTIVE_HUNDREDTHS.max, () => wholeNumber(100, ADAPTIVE_HUNDREDTHS.max)],
  fallStepHundredths: [10, step],
  riseStepHundredths: [5, step],
  fallWaitMs: [5 * MINUTE_MS, time],
  riseWaitMs: [30 * MINUTE_MS, time],
  capAfterRiseMs: [90 * MINUTE_MS, time],
  capBelowHundredths: [5, step],
  capStepHundredths: [5, step],
  capRecoveryAboveMs: [4 * HOUR_MS, time],
  capRecoveryMinMs: [30 * MINUTE_MS, time],
  capRecoveryMaxMs: [4 * HOUR_MS, time],
  relapseMs: [24 * HOUR_MS, time],
  quietHoldMs: [30 * MINUTE_MS, time],
  driftWaitMs: [30 * MINUTE_MS, time],
  driftStepHundredths: [5, step],
  historyLength: [50, () => wholeNumber(1, 1_000)],
}

/** One of something for each constant. */
function eachOf<T>(make: (value: number, check: () => Check<number>) => T): Record<keyof AdaptiveConstants, T> {
  const made = Object.entries(CONSTANTS).map(([name, [value, check]]) => [name, make(value, check)])
  return Object.fromEntries(made) as Record<keyof AdaptiveConstants, T>
}

function minutes(): Check<number> {
  return wholeNumber(1, 1440, 'minutes')
}

function step(): Check<number> {
  return wholeNumber(1, 75, 'hundredths')
}

function time(): Check<number> {
  return wholeNumber(MINUTE_MS, 30 * 24 * HOUR_MS, 'milliseconds')
}

function rate(): Check<number> {
  return where((value) => typeof value === 'number' && value > 0 && value < 1, 'a number between 0 and 1')
}

/** The constants when none are given. */
export const ADAPTIVE_DEFAULTS: AdaptiveConstants = /* @__PURE__ */ eachOf((value) => value)

const parse = /* @__PURE__ */ optionsParser<AdaptiveConstants>(
  'the adaptive law',
  () => eachOf((value, check) => withDefault(check(), value)),
  { between },
)

function between(constants: AdaptiveConstants): Fault[] {
  const { lowRate, highRate, recentMinutes, windowMinutes, capRecoveryMinMs, capRecoveryMaxMs } = constants
  return [
    ...(lowRate < highRate ? [] : [{ path: 'lowRate', message: 'expected less than highRate' }]),
    ...(recentMinutes <= windowMinutes ? [] : [{ path: 'recentMinutes', message: 'expected at most windowMinutes' }]),
    ...(capRecoveryMinMs <= capRecoveryMaxMs
      ? []
      : [{ path: 'capRecoveryMinMs', message: 'expected at most capRecoveryMaxMs' }]),
  ]
}

/**
 * The law's constants: those given, checked, and the defaults of the others.
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function adaptiveConstants(given: Partial<AdaptiveConstants> = {}): AdaptiveConstants {
  return parse(given)
}
