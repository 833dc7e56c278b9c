import { aClock, aFunction, having, objectWhere, oneOf, optional } from '../options/checks.ts'
import { optionsParser } from '../options/options-parser.ts'
import type { Mode } from '../policy/settings.ts'
import type { Answer } from '../store/answer.ts'
import type { FactorStore } from '../store/factor-store.ts'
import type { OutcomeStore } from '../store/outcome-store.ts'
import type { Clock } from '../time/clock.ts'
import type { AdaptiveConstants } from './constants.ts'

/** What {@link adaptiveTicker} takes. */
export interface AdaptiveTickerOptions {
  /** Where the outcomes of calls are counted. */
  readonly outcomes: OutcomeStore
  /** Where the factor lives. */
  readonly factorStore: FactorStore
  /**
   * Says the mode, for example `quota.settings`: the factor moves only while it is `adaptive`.
   * @default the mode is taken to be `adaptive`
   */
  readonly settings?: { get(): Answer<{ readonly mode: Mode }> } | undefined
  /**
   * Says which minute it is.
   * @default the machine's clock
   */
  readonly clock?: Clock | undefined
  /** Constants of the law that differ from the defaults. */
  readonly constants?: Partial<AdaptiveConstants> | undefined
  /**
   * Works out the moves from where the factor stands, whatever the mode, and writes none: it goes on from its own last
   * state.
   * @default false
   */
  readonly dryRun?: boolean | undefined
  /**
   * Hears of ticks of the timer that failed; the next one tries again.
   * @default nobody does
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** @throws {QuotaError} `invalid_options` naming every fault but those of the constants */
export const parseTickerOptions: (options: unknown) => AdaptiveTickerOptions =
  /* @__PURE__ */ optionsParser<AdaptiveTickerOptions>('adaptiveTicker()', () => ({
    outcomes: having<OutcomeStore>(['add', 'read'], 'a store of outcomes, as memoryOutcomes() makes it'),
    factorStore: having<FactorStore>(['read', 'compareAndSet', 'watch'], 'a factor store, as memoryFactor() makes it'),
    settings: optional(
      having<NonNullable<AdaptiveTickerOptions['settings']>>(['get'], 'what says the mode, as quota.settings does'),
    ),
    clock: optional(aClock()),
    constants: optional(objectWhere<Partial<AdaptiveConstants>>(() => true, 'an object of constants')),
    dryRun: optional(oneOf(true, false)),
    onError: optional(aFunction<(error: unknown) => void>()),
  }))
