/**
 * For applications that create and call a quota engine. Authors of stores find their ports in `@scoregw/quota/store`,
 * authors of HTTP adapters their core in `@scoregw/quota/http`.
 *
 * @module
 */
export type { LimitKind } from './decision/decision.ts'
export type { WriteOptions } from './engine/admin/write-options.ts'
export { createQuota, isSyncQuota } from './engine/engine.ts'
export type { QuotaEvent } from './engine/events.ts'
export type { FailurePolicy } from './engine/options.ts'
export type {
  AdmittedDecision,
  CommitResult,
  Decision,
  HeldReservation,
  Hold,
  NearLimit,
  Policy,
  Quota,
  QuotaEvents,
  QuotaHolds,
  QuotaInTransaction,
  QuotaOptions,
  QuotaRequest,
  QuotaSettings,
  QuotaStatus,
  QuotaSubjects,
  RefusedDecision,
  Reservation,
  ReserveRequest,
  ResetOptions,
  ResumedReservation,
  RunResult,
  Settings,
  SubjectSettings,
  SubjectSettingsPatch,
  SyncQuota,
  SyncQuotaOptions,
  SyncReservation,
  UncountedWindow,
  VersionedSettings,
  VersionedSubjectSettings,
  Violation,
  WindowStatus,
} from './engine/public-types.ts'
export type { PeekOptions } from './engine/requests.ts'
export {
  type SimpleQuota,
  type SimpleQuotaOptions,
  type SyncSimpleQuota,
  type SyncSimpleQuotaOptions,
  simpleQuota,
} from './engine/simple-quota.ts'
export { type Fault, QuotaError, type QuotaErrorCode } from './errors/quota-error.ts'
export { quotaExceededBody, quotaStatusBody } from './http/body.ts'
export { quotaHeaders } from './http/headers.ts'
export { memorySettings } from './memory/memory-settings.ts'
export { type MemoryStore, type MemoryStoreOptions, memoryStore } from './memory/memory-store.ts'
export type { QuotaLogger } from './options/logger.ts'
export { type DefinedPolicy, definePolicy } from './policy/define-policy.ts'
export type { Limit, LimitTable } from './policy/policy.ts'
export type { Mode } from './policy/settings.ts'
export type {
  Counting,
  MoneyFormat,
  OneUnit,
  PolicyNames,
  SeveralUnits,
  Subject,
  SubjectOf,
  UnitDefinition,
  UnitsOf,
} from './policy/units.ts'
export { defaultPolicy } from './score-gateway/default-policy.ts'
export type { QuotaStore } from './store/quota-store.ts'
export type { SettingsStore } from './store/settings-store.ts'
export type { Clock } from './time/clock.ts'
export type { Calendar } from './windows/kinds/calendar.ts'
export type { Duration } from './windows/kinds/rolling.ts'
