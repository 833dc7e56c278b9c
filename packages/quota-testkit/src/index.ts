export { type ManualClock, manualClock } from './manual-clock.ts'
export { CONFORMANCE_CASES } from './suite/cases.ts'
export { describeFactorStore, describeOutcomeStore, describeSettingsStore } from './suite/describe-ports.ts'
export { describeStore, type TestRunner } from './suite/describe-store.ts'
export { runEditHistories } from './suite/edit-histories.ts'
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
export { runHoldHistories } from './suite/hold-histories.ts'
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
