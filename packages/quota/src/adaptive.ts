/**
 * Mode `adaptive`: the law that moves the factor, its inputs, and the ticker that applies it.
 *
 * @module
 */
export { ADAPTIVE_DEFAULTS, type AdaptiveConstants, adaptiveConstants } from './adaptive/constants.ts'
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
  FailedLevel,
  VersionedFactor,
} from './store/factor-store.ts'
export {
  type CallOutcome,
  type OutcomeRecorder,
  type OutcomeRecorderOptions,
  outcomeRecorder,
} from './store/outcome-recorder.ts'
export {
  type MinuteOutcomes,
  OUTCOME_COLUMNS,
  type OutcomeColumn,
  type OutcomeStore,
} from './store/outcome-store.ts'
