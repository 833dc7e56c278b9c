import type { Fault } from '../errors/quota-error.ts'
import { type Check, where, wholeNumber, withDefault } from '../options/checks.ts'
import { optionsParser } from '../options/options-parser.ts'
import { ADAPTIVE_HUNDREDTHS } from '../policy/limits.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/**
 * Constants of the adaptive law. Factors and steps are whole hundredths, rates are fractions from 0 to 1, times are
 * milliseconds.
 */
export interface AdaptiveConstants {
  /**
   * How many completed minutes the law counts: its window.
   *
   * @default 30
   */
  readonly windowMinutes: number
  /**
   * How many minutes at the end of the window count as recent.
   *
   * @default 5
   */
  readonly recentMinutes: number
  /**
   * Half-width of the Wilson bounds, in standard deviations.
   *
   * @default 1.96
   */
  readonly z: number
  /**
   * The factor may rise below this error rate.
   *
   * @default 0.005
   */
  readonly lowRate: number
  /**
   * The factor falls above this error rate.
   *
   * @default 0.02
   */
  readonly highRate: number
  /**
   * With fewer calls in the window, traffic is too low to judge.
   *
   * @default 200
   */
  readonly minCalls: number
  /**
   * With fewer recent calls, the factor doesn't fall.
   *
   * @default 20
   */
  readonly minRecentCalls: number
  /**
   * The lowest factor, 75 to 100.
   *
   * @default 75
   */
  readonly minHundredths: number
  /**
   * The highest factor, 100 to 150.
   *
   * @default 150
   */
  readonly maxHundredths: number
  /** @default 10 */
  readonly fallStepHundredths: number
  /** @default 5 */
  readonly riseStepHundredths: number
  /**
   * The minimum time between the last move and a fall.
   *
   * @default 300_000 (5 minutes)
   */
  readonly fallWaitMs: number
  /**
   * The minimum time between the last move and a rise.
   *
   * @default 1_800_000 (30 minutes)
   */
  readonly riseWaitMs: number
  /**
   * Only rises within this time may have caused errors. On a slow service, it is twice as long as the last errors took
   * to pass.
   *
   * @default 4_500_000 (75 minutes): the window of 30 minutes, and a service that takes as long to show errors
   */
  readonly blameMs: number
  /**
   * The maximum of that time on a slow service.
   *
   * @default 28_800_000 (8 hours)
   */
  readonly blameMaxMs: number
  /**
   * Evidence of high errors since the last rise that causes a fall before the window shows it. Evidence is a
   * log-likelihood ratio: how much more likely the counts are at a high error rate.
   *
   * @default 6 (400 times likelier)
   */
  readonly riseEvidence: number
  /**
   * With fewer recent errors, evidence doesn't cause a fall.
   *
   * @default 3
   */
  readonly minRecentErrors: number
  /**
   * The evidence at which a probe fails.
   *
   * @default 3.5 (33 times likelier)
   */
  readonly probeEvidence: number
  /**
   * How long a probe stays at a level. At 60 calls per minute, that's enough to see a few errors.
   *
   * @default 300_000 (5 minutes)
   */
  readonly probeMs: number
  /**
   * How long the second probe of a wall's highest level stays there. A short probe with few calls shows nothing.
   *
   * @default 1_200_000 (20 minutes)
   */
  readonly secondProbeMs: number
  /**
   * How long the law waits after a probe for the errors that it caused.
   *
   * @default 7_200_000 (2 hours)
   */
  readonly listenMs: number
  /**
   * The time between a new wall and its first probe. Doubles with each failed probe.
   *
   * @default 7_200_000 (2 hours)
   */
  readonly probeWaitMinMs: number
  /**
   * The maximum of that time.
   *
   * @default 28_800_000 (8 hours)
   */
  readonly probeWaitMaxMs: number
  /**
   * How many probes can be saved up.
   *
   * @default 3
   */
  readonly probesInHand: number
  /**
   * How long it takes to earn one more probe.
   *
   * @default 28_800_000 (8 hours)
   */
  readonly probeEarnedMs: number
  /**
   * How long traffic must stay too low before the factor drifts towards 1.
   *
   * @default 1_800_000 (30 minutes)
   */
  readonly quietHoldMs: number
  /**
   * The minimum time between the last move and a drift step.
   *
   * @default 1_800_000 (30 minutes)
   */
  readonly driftWaitMs: number
  /**
   * The size of a drift step.
   *
   * @default 5
   */
  readonly driftStepHundredths: number
  /**
   * How many moves the history keeps.
   *
   * @default 50
   */
  readonly historyLength: number
}

/** The default and the check of each constant. */
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

/** Makes an object with one value per constant. */
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

/** The default constants. */
export const ADAPTIVE_DEFAULTS: AdaptiveConstants = /* @__PURE__ */ eachOf((value) => value)

const parse = /* @__PURE__ */ optionsParser<AdaptiveConstants>(
  'the adaptive law',
  () => eachOf((value, check) => withDefault(check(), value)),
  { between },
)

/** Pairs whose first constant must not exceed the second. */
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
 * Validates constants and adds the defaults.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function adaptiveConstants(given: Partial<AdaptiveConstants> = {}): AdaptiveConstants {
  return parse(given)
}
