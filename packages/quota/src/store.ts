/**
 * For those who write a store: the ports, what they promise, and the transitions of a row of windows that every store
 * makes alike; and what the types of the engine are made of.
 *
 * @module
 */
export type { WindowStates } from './decision/decide.ts'
export type { DecisionSource } from './decision/decision.ts'
export type { DecisionTime, QuotaListener } from './engine/events.ts'
export type { DeepPartial } from './engine/merge-patch.ts'
export type { EmptyReservation, RefusedReservation, RepeatedReservation } from './engine/requests.ts'
export type { SettingsInForce, SettingsUpdate, SubjectOptions } from './engine/settings-admin.ts'
export type { MemorySettings } from './memory/memory-settings.ts'
export type { SnapshotPart } from './memory/snapshot.ts'
export type { BaseLimits, PolicyDefinition } from './policy/define-policy.ts'
export { hundredths, MAX_LIMIT, type Quotas } from './policy/limits.ts'
export type { DefaultPolicyOptions, LayerDefinition, OperationDefinition } from './policy/policy.ts'
export { initialSettings, MODES, type SharedLayerSettings, type Versioned } from './policy/settings.ts'
export type { Answer } from './store/answer.ts'
export type { AdaptiveCounts, FactorReason, FactorReasonCode, FactorState } from './store/factor-state.ts'
export type { FactorStore, VersionedFactor } from './store/factor-store.ts'
export { isNotDone, notDone } from './store/not-done.ts'
export {
  type MinuteOutcomes,
  OUTCOME_COLUMNS,
  OUTCOMES_KEPT_MINUTES,
  type OutcomeColumn,
  type OutcomeStore,
} from './store/outcome-store.ts'
export type {
  AsyncCounters,
  AsyncStore,
  Counters,
  QuotaStore,
  ReadReply,
  ReadRequest,
  ReservationId,
  ResetRequest,
  SettleRequest,
  SyncCounters,
  SyncStore,
  TakeOutcome,
  TakeReply,
  TakeRequest,
} from './store/quota-store.ts'
export { idOwnerKey, type LayerSchema, layerKey, type StoreSchema, type Subject, storeSchema } from './store/schema.ts'
export {
  type AsyncSettingsStore,
  newRevision,
  type SettingsChange,
  type SettingsStore,
  type StoredDocument,
  type StoreWriteOptions,
  type SyncSettingsStore,
  type WriteReply,
} from './store/settings-store.ts'
export { type Stopwatch, systemClock } from './time/clock.ts'
export { hash32, inRowOrder, windowIdentity, windowOfIdentity } from './windows/identity.ts'
export { Layout } from './windows/layout.ts'
export { type Cells, charge, clearRow, close, fits, reanchor, refund, undo, viewRow } from './windows/row.ts'
export { CLOSED, GRACE_MS, MAX_AHEAD_MS, MAX_USED, NOT_OPEN, type WindowDefinition } from './windows/window.ts'
