import type { Fault } from '../errors/quota-error.ts'
import { type Check, where, wholeNumber, withDefault } from '../options/checks.ts'
import { optionsParser } from '../options/options-parser.ts'
import { ADAPTIVE_HUNDREDTHS } from '../policy/limits.ts'

/** What you can choose of the adaptive law. Rates are fractions from 0 to 1, factors are whole hundredths. */
export interface AdaptiveConstants {
  /**
   * The factor may rise while the error rate is below this.
   *
   * @default 0.005
   */
  readonly lowRate: number
  /**
   * The factor falls while the error rate is above this.
   *
   * @default 0.02
   */
  readonly highRate: number
  /**
   * With fewer calls in 30 minutes, traffic is too low to rise above 1.
   *
   * @default 200
   */
  readonly minCalls: number
  /**
   * The lowest factor, 75 to 100.
   *
   * @default 75
   */
  readonly minHundredths: number
  /**
   * The highest factor, 100 to 150. With 100, limits never rise above the base.
   *
   * @default 150
   */
  readonly maxHundredths: number
}

/** The default constants. */
export const ADAPTIVE_DEFAULTS: AdaptiveConstants = {
  lowRate: 0.005,
  highRate: 0.02,
  minCalls: 200,
  minHundredths: ADAPTIVE_HUNDREDTHS.min,
  maxHundredths: ADAPTIVE_HUNDREDTHS.max,
}

const parse = /* @__PURE__ */ optionsParser<AdaptiveConstants>(
  'the adaptive law',
  () => ({
    lowRate: withDefault(rate(), ADAPTIVE_DEFAULTS.lowRate),
    highRate: withDefault(rate(), ADAPTIVE_DEFAULTS.highRate),
    minCalls: withDefault(wholeNumber(0, 10 ** 9), ADAPTIVE_DEFAULTS.minCalls),
    minHundredths: withDefault(wholeNumber(ADAPTIVE_HUNDREDTHS.min, 100), ADAPTIVE_DEFAULTS.minHundredths),
    maxHundredths: withDefault(wholeNumber(100, ADAPTIVE_HUNDREDTHS.max), ADAPTIVE_DEFAULTS.maxHundredths),
  }),
  { between: lowBelowHigh },
)

function rate(): Check<number> {
  return where((value) => typeof value === 'number' && value > 0 && value < 1, 'a number between 0 and 1')
}

function lowBelowHigh({ lowRate, highRate }: AdaptiveConstants): Fault[] {
  return lowRate < highRate ? [] : [{ path: 'lowRate', message: 'expected less than highRate' }]
}

/**
 * Validates constants and adds the defaults.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function adaptiveConstants(given: Partial<AdaptiveConstants> = {}): AdaptiveConstants {
  return parse(given)
}
