export {
  type Fault,
  type FaultHistories,
  type FaultQuota,
  faultPolicy,
  runFaultHistories,
} from './faults/fault-history.ts'
export { SCENES, type Scene, UNIT_SCENES } from './histories/policies.ts'
export { checkPromises, type PromiseCounts } from './histories/promises.ts'
export {
  type HistoryOptions,
  type QuotaCommand,
  quotaCommands,
  runHistories,
  runHistory,
} from './histories/run-history.ts'
export { TEN_SCENES } from './histories/ten-policies.ts'
export { describeHttpFuzz } from './http/fuzz.ts'
export { explore } from './living/explore.ts'
export { holdMachine } from './living/hold-machine.ts'
export { rowMachine } from './living/row-machine.ts'
export type { RowRules } from './living/row-rules.ts'
export { type Place, type SettingsRules, settingsMachine } from './living/settings-machine.ts'
export { type WindowRules, windowMachine } from './living/window-machine.ts'
export { markdownTable, proofPages, timelineOf } from './proof/pages.ts'
export {
  type Counterexample,
  checkMachine,
  counterexamples,
  type KnownBreak,
  type LeftOut,
  type Proof,
  type ProofResult,
} from './proof/proof.ts'
export { uniform, withCells } from './schemas.ts'
