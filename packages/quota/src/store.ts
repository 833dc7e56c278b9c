/**
 * For authors of stores: the ports with their contracts, the transitions of a row of windows that all stores share, and
 * the types behind those of the engine.
 *
 * @module
 */
export type { WindowStates } from './decision/decide.ts'
export type { DecisionSource } from './decision/decision.ts'
export type { DeepPartial } from './engine/admin/write-options.ts'
export type { DecisionTime } from './engine/events.ts'
export type {
  EmptyReservation,
  HeldWindowStatus,
  HoldEnd,
  OperationDefinition,
  QuotaListener,
  QuotaOverrun,
  RefusedReservation,
  RepeatedReservation,
  ReservationCalls,
  SettingsInForce,
  SettingsUpdate,
  StatusOptions,
  SubjectOptions,
  Threshold,
} from './engine/public-types.ts'
export type { UnknownPlan } from './engine/settings/live-settings.ts'
export { otherVersion } from './errors/other-version.ts'
export { QuotaWarning } from './errors/quota-warning.ts'
export { errorText } from './errors/reason.ts'
export type { MemorySettings } from './memory/memory-settings.ts'
export { parseSnapshotPart, type SnapshotPart } from './memory/snapshot.ts'
export type { LayerInput, PolicyDefinition } from './policy/define-policy.ts'
export type { Quotas } from './policy/limits.ts'
export type {
  ConcurrencyDefinition,
  LayerDefinition,
  PlanTable,
} from './policy/policy.ts'
export {
  initialSettings,
  MODES,
  type SharedLayerSettings,
  type SubjectAnchor,
  type Versioned,
} from './policy/settings.ts'
export { ofUnit, unitNames } from './policy/units.ts'
export { MAX_LIMIT } from './policy/values.ts'
export {
  type IdPlace,
  idPlaces,
  type NamedCell,
  type NamedHoldRow,
  type NamedRecord,
  type RowPlace,
  type RowRequest,
  rowPlaces,
  Scratch,
  usedLayers,
} from './scratch/scratch.ts'
export { Breaker } from './store/breaker.ts'
export { Deadline, Deadlines } from './store/deadline.ts'
export type {
  AdaptiveCounts,
  FactorReason,
  FactorState,
  FactorStore,
  VersionedFactor,
} from './store/factor-store.ts'
export type {
  AsyncHolds,
  EndedHold,
  ExtendRequest,
  GrowRequest,
  HoldOptions,
  HoldOutcome,
  HoldRecord,
  HoldRef,
  HoldReply,
  ListHoldsReply,
  ListHoldsRequest,
  Overrun,
  Settled,
  SettleHoldOutcome,
  SettleHoldReply,
  SettleHoldRequest,
  SweepReply,
  SyncHolds,
} from './store/hold-port.ts'
export {
  amountBack,
  answerToKeep,
  type CommitPlan,
  commitAnswer,
  extendedEnd,
  grownCharge,
  grownCosts,
  type HoldFactsOf,
  holdOutcome,
  type IdFacts,
  isToSettle,
  planSettlement,
  repeatedTake,
  type SettlementPlan,
  settledAmounts,
} from './store/hold-rules.ts'
export { InFlight } from './store/in-flight.ts'
export {
  type MinuteOutcomes,
  OUTCOME_COLUMNS,
  OUTCOMES_KEPT_MINUTES,
  type OutcomeColumn,
  type OutcomeStore,
} from './store/outcome-store.ts'
export {
  type Answer,
  type AsyncCounters,
  type AsyncStore,
  type Counters,
  isNotDone,
  notDone,
  type QuotaStore,
  type ReadReply,
  type ReadRequest,
  type ResetRequest,
  type SettleRequest,
  type StoreAbilities,
  type SyncCounters,
  type SyncStore,
  type TakeOutcome,
  type TakeReply,
  type TakeRequest,
} from './store/quota-store.ts'
export {
  keyName,
  type LayerSchema,
  layerKey,
  type Owner,
  ownerOf,
  type ReservationId,
  type StoreSchema,
  type Subject,
  type SubjectKeys,
  storeSchema,
} from './store/schema.ts'
export {
  type AsyncSettingsStore,
  newRevision,
  type ReadWithin,
  type SettingsChange,
  type SettingsReader,
  type SettingsStore,
  type StoredDocument,
  type StoreWriteOptions,
  type SyncSettingsStore,
  type WriteReply,
} from './store/settings-store.ts'
export { systemClock } from './time/clock.ts'
export {
  type CellDefinition,
  type CellSchema,
  cellOfIdentity,
  cellsIn,
  hash32,
  inRowOrder,
  slotsCell,
  windowCell,
} from './windows/identity.ts'
export { type BucketWindow, type Burst, burstUnder } from './windows/kinds/bucket.ts'
export type { CalendarAnchor, CalendarPeriod, CalendarWindow } from './windows/kinds/calendar.ts'
export { PERIOD_NUMBERS, type Period, periodAt } from './windows/kinds/kind.ts'
export { millisecondsOf, type RollingWindow } from './windows/kinds/rolling.ts'
export type { KindName, WindowDefinition } from './windows/kinds.ts'
export { Instant, Layout, layoutOf, RowLayout } from './windows/layout.ts'
export {
  add,
  type Cells,
  CLOSED,
  clearRow,
  close,
  GRACE_MS,
  MAX_AHEAD_MS,
  MAX_USED,
  NOT_OPEN,
  reanchor,
  refund,
  roll,
  undo,
  usedIn,
  view,
} from './windows/row.ts'
export { type Amounts, amountsIn, named, SLOTS, TOKENS } from './windows/units.ts'
