export { ADAPTIVE_DEFAULTS, type AdaptiveConstants, adaptiveConstants } from './adaptive/constants.ts'
export { adaptiveCounts } from './adaptive/counts.ts'
export { adaptiveLaw, initialFactor } from './adaptive/law.ts'
export {
  type AdaptiveTick,
  type AdaptiveTicker,
  type AdaptiveTickerOptions,
  adaptiveTicker,
} from './adaptive/ticker.ts'
export type { WindowStates } from './decision/decide.ts'
export type {
  AdmittedDecision,
  Decision,
  DecisionSource,
  RefusedDecision,
  Violation,
  WindowStatus,
} from './decision/decision.ts'
export { createQuota } from './engine/create-quota.ts'
export type { DecisionTime, QuotaEvent, QuotaEvents, QuotaListener } from './engine/events.ts'
export type { DeepPartial } from './engine/merge-patch.ts'
export type { FailurePolicy, QuotaOptions } from './engine/options.ts'
export type { Quota } from './engine/quota.ts'
export type {
  EmptyReservation,
  HeldReservation,
  NearLimit,
  QuotaRequest,
  QuotaStatus,
  RefusedReservation,
  RepeatedReservation,
  Reservation,
  ReserveRequest,
  ResetOptions,
  RunResult,
  SyncReservation,
} from './engine/requests.ts'
export type {
  QuotaSettings,
  QuotaSubjects,
  SettingsInForce,
  SettingsUpdate,
  SubjectOptions,
} from './engine/settings-admin.ts'
export { type Fault, QuotaError, type QuotaErrorCode } from './errors/quota-error.ts'
export {
  type QuotaExceededBody,
  type QuotaExceededOptions,
  type QuotaStatusBody,
  quotaExceededBody,
  quotaStatusBody,
  type WindowStatusBody,
} from './http/body.ts'
export { QUOTA_HEADER_NAMES, quotaHeaders, rateLimitHeaders, refusalHeaders } from './http/headers.ts'
export { LOCALES, type Locale, type MessageFacts, type MessageTexts, refusalMessage } from './http/messages.ts'
export { type MemoryFactor, memoryFactor } from './memory/memory-factor.ts'
export { type MemoryOutcomes, memoryOutcomes } from './memory/memory-outcomes.ts'
export { type MemorySettings, memorySettings } from './memory/memory-settings.ts'
export { type MemoryStore, memoryStore } from './memory/memory-store.ts'
export type { MemoryStoreOptions } from './memory/options.ts'
export type { SnapshotPart } from './memory/snapshot.ts'
export { MAX_LIMIT, type Quotas } from './policy/limits.ts'
export {
  type DefaultPolicyOptions,
  defaultPolicy,
  type LayerDefinition,
  type Limit,
  type LimitTable,
  type OperationDefinition,
  type Policy,
} from './policy/policy.ts'
export {
  initialSettings,
  MODES,
  type Mode,
  type Settings,
  type SharedLayerSettings,
  type SubjectSettings,
  type VersionedSettings,
  type VersionedSubjectSettings,
} from './policy/settings.ts'
export type { AdaptiveCounts, FactorReason, FactorReasonCode, FactorState } from './store/factor-state.ts'
export type { FactorStore, VersionedFactor } from './store/factor-store.ts'
export {
  type CallOutcome,
  type OutcomeRecorder,
  type OutcomeRecorderOptions,
  outcomeRecorder,
} from './store/outcome-recorder.ts'
export {
  type MinuteOutcomes,
  OUTCOME_COLUMNS,
  OUTCOMES_KEPT_MINUTES,
  type OutcomeColumn,
  type OutcomeStore,
} from './store/outcome-store.ts'
export {
  layerKey,
  type MaybePromise,
  type QuotaStore,
  type ReadReply,
  type ReadRequest,
  type ReservationId,
  type ResetRequest,
  type SettleRequest,
  type StoreSchema,
  type Subject,
  type TakeOutcome,
  type TakeReply,
  type TakeRequest,
} from './store/quota-store.ts'
export type { SettingsChange, SettingsStore, WriteOptions, WriteReply } from './store/settings-store.ts'
export { BEIJING_TIME_ZONE, beijingText, isoText } from './time/beijing.ts'
export { type Clock, type Stopwatch, systemClock } from './time/clock.ts'
export type { WindowDefinition } from './windows/window.ts'
