/**
 * Mode `adaptive`: the law that moves the factor, its inputs, and the ticker that applies it.
 *
 * @module
 */
export { ADAPTIVE_DEFAULTS, type AdaptiveConstants } from './adaptive/constants.ts'
export { adaptiveLaw, initialFactor, resetFactor } from './adaptive/law.ts'
export { readAdaptiveCounts } from './adaptive/rates.ts'
export {
  type AdaptiveTick,
  type AdaptiveTicker,
  type AdaptiveTickerOptions,
  adaptiveTicker,
} from './adaptive/ticker.ts'
export { type MemoryFactor, type MemoryOutcomes, memoryFactor, memoryOutcomes } from './memory/memory-settings.ts'
export type {
  AdaptiveCounts,
  FactorMemory,
  FactorReason,
  FactorReasonCode,
  FactorState,
  FactorStore,
  VersionedFactor,
} from './store/factor-store.ts'
export {
  type CallOutcome,
  type MinuteOutcomes,
  OUTCOME_COLUMNS,
  OUTCOMES_KEPT_MINUTES,
  type OutcomeColumn,
  type OutcomeRecorder,
  type OutcomeStore,
  outcomeRecorder,
} from './store/outcomes.ts'
