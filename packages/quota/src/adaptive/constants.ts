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
   * Rises at most so long ago may have caused errors. On a slow service it's twice as long as its errors took to go.
   * @default 4_500_000 (75 minutes): the law's window of 30 minutes, and a service that needs as long to show it
   */
  readonly blameMs: number
  /**
   * The longest such time on a slow service.
   * @default 28_800_000 (8 hours)
   */
  readonly blameMaxMs: number
  /**
   * Evidence of high errors since the last rise that is enough to fall before the window shows it. It's the logarithm of
   * how much likelier the counts are at a high rate.
   * @default 6 (400 times likelier)
   */
  readonly riseEvidence: number
  /**
   * Recent errors below which such a fall is not made.
   * @default 3
   */
  readonly minRecentErrors: number
  /**
   * Evidence at which a probe of a wall has failed.
   * @default 3.5 (33 times likelier)
   */
  readonly probeEvidence: number
  /**
   * How long a probe tests a level. At 60 calls per minute that shows a few errors.
   * @default 300_000 (5 minutes)
   */
  readonly probeMs: number
  /**
   * How long the second probe of a wall's highest level stays, since few calls show nothing in a short one.
   * @default 1_200_000 (20 minutes)
   */
  readonly secondProbeMs: number
  /**
   * How long the law then waits for errors that the probe caused.
   * @default 7_200_000 (2 hours)
   */
  readonly listenMs: number
  /**
   * Time from a new wall to its first probe; doubles with each failure.
   * @default 7_200_000 (2 hours)
   */
  readonly probeWaitMinMs: number
  /**
   * The longest such time.
   * @default 28_800_000 (8 hours)
   */
  readonly probeWaitMaxMs: number
  /**
   * How many probes may follow each other as their waits allow.
   * @default 3
   */
  readonly probesInHand: number
  /**
   * Time in which one more probe is earned, if all were used.
   * @default 28_800_000 (8 hours)
   */
  readonly probeEarnedMs: number
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
  blameMs: [75 * MINUTE_MS, time],
  blameMaxMs: [8 * HOUR_MS, time],
  riseEvidence: [6, evidence],
  minRecentErrors: [3, () => wholeNumber(1, 10 ** 9)],
  probeEvidence: [3.5, evidence],
  probeMs: [5 * MINUTE_MS, time],
  secondProbeMs: [20 * MINUTE_MS, time],
  listenMs: [2 * HOUR_MS, time],
  probeWaitMinMs: [2 * HOUR_MS, time],
  probeWaitMaxMs: [8 * HOUR_MS, time],
  probesInHand: [3, () => wholeNumber(1, 1_000)],
  probeEarnedMs: [8 * HOUR_MS, time],
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

function evidence(): Check<number> {
  return where((value) => typeof value === 'number' && value > 0 && value <= 20, 'a number above 0, up to 20')
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

/** Pairs of which the first must not be above the second. */
const ORDERED = [
  ['recentMinutes', 'windowMinutes'],
  ['blameMs', 'blameMaxMs'],
  ['probeWaitMinMs', 'probeWaitMaxMs'],
] as const satisfies readonly (readonly (keyof AdaptiveConstants)[])[]

function between(constants: AdaptiveConstants): Fault[] {
  return [
    ...(constants.lowRate < constants.highRate ? [] : [{ path: 'lowRate', message: 'expected less than highRate' }]),
    ...ORDERED.filter(([less, more]) => constants[less] > constants[more]).map(([less, more]) => ({
      path: less,
      message: `expected at most ${more}`,
    })),
  ]
}

/**
 * The law's constants: those given, checked, and the defaults of the others.
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function adaptiveConstants(given: Partial<AdaptiveConstants> = {}): AdaptiveConstants {
  return parse(given)
}
