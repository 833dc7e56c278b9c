export { type HistoryOptions, runStoreHistories } from './history/play.ts'
export { type ManualClock, manualClock } from './manual-clock.ts'
export { CONFORMANCE_CASES } from './suite/cases.ts'
export { describeFactorStore, describeOutcomeStore, describeSettingsStore, describeStore } from './suite/describe.ts'
export { FACTOR_STORE_CASES } from './suite/factor-cases.ts'
export {
  type Case,
  type ConformanceCase,
  type Factory,
  missingOf,
  type Need,
  type PortCase,
  type PortFactory,
  type PortHarness,
  type RowName,
  runCase,
  type SettingsCapability,
  type SettingsCase,
  type SettingsFactory,
  type SettingsHarness,
  type StoreAbility,
  type StoreCapability,
  type StoreFactory,
  type StoreHarness,
  type StoreWishes,
  type TestRunner,
} from './suite/harness.ts'
export { OUTCOME_STORE_CASES } from './suite/outcome-cases.ts'
export { SETTINGS_STORE_CASES } from './suite/settings-cases.ts'
