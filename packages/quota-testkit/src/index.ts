export { runEditHistories } from './histories/edit-histories.ts'
export { runHoldHistories } from './histories/hold-histories.ts'
export { SCENES, type Scene } from './histories/policies.ts'
export { checkPromises, type PromiseCounts } from './histories/promises.ts'
export {
  type HistoryOptions,
  type QuotaCommand,
  quotaCommands,
  runHistories,
  runHistory,
} from './histories/run-history.ts'
export { type ManualClock, manualClock } from './manual-clock.ts'
export {
  type ModelAnswer,
  type ModelCalendar,
  type ModelCommit,
  type ModelOptions,
  type ModelRequest,
  type ModelReservation,
  type ModelReserveRequest,
  QuotaModel,
} from './model/quota-model.ts'
export { CONFORMANCE_CASES } from './suite/cases.ts'
export { describeFactorStore, describeOutcomeStore, describeSettingsStore } from './suite/describe-ports.ts'
export { describeStore, type TestRunner } from './suite/describe-store.ts'
export { FACTOR_STORE_CASES } from './suite/factor-cases.ts'
export {
  type CaseContext,
  type ConformanceCase,
  type Need,
  type RowName,
  runCase,
  type StoreAbility,
  type StoreCapability,
  type StoreFactory,
  type StoreHarness,
  type StoreWishes,
} from './suite/harness.ts'
export { OUTCOME_STORE_CASES } from './suite/outcome-cases.ts'
export { type PortCase, type PortFactory, type PortHarness, runPortCase } from './suite/port-harness.ts'
export { SETTINGS_STORE_CASES } from './suite/settings-cases.ts'
export {
  runSettingsCase,
  type SettingsCapability,
  type SettingsCase,
  type SettingsContext,
  type SettingsFactory,
  type SettingsHarness,
} from './suite/settings-harness.ts'
