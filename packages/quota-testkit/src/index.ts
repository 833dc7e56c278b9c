export { type HistoryOptions, runStoreHistories } from './history/play.ts'
export { type ManualClock, manualClock } from './manual-clock.ts'
export { CONFORMANCE_CASES } from './suite/cases.ts'
export { describeFactorStore, describeOutcomeStore, describeSettingsStore, describeStore } from './suite/describe.ts'
export { FACTOR_STORE_CASES } from './suite/factor-cases.ts'
export {
  type CaseContext,
  type ConformanceCase,
  missingOf,
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
export {
  type PortCase,
  type PortFactory,
  type PortHarness,
  runPortCase,
  type TestRunner,
} from './suite/port-harness.ts'
export { SETTINGS_STORE_CASES } from './suite/settings-cases.ts'
export {
  runSettingsCase,
  type SettingsCapability,
  type SettingsCase,
  type SettingsContext,
  type SettingsFactory,
  type SettingsHarness,
} from './suite/settings-harness.ts'
