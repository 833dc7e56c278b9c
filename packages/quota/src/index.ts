/**
 * For applications that create and call a quota engine. Authors of stores find their ports in `@scoregw/quota/store`,
 * authors of HTTP adapters their core in `@scoregw/quota/http`.
 *
 * @module
 */
export type {
  AdmittedDecision,
  Decision,
  DecisionLimits,
  LimitKind,
  LimitStatus,
  Refusal,
  RefusedDecision,
  UncountedLimit,
} from './decision/decision.ts'
export type { QuotaHolds } from './engine/admin/holds-admin.ts'
export type { QuotaSettings } from './engine/admin/settings-admin.ts'
export type { QuotaSubjects, SubjectKey, SubjectSettingsPatch } from './engine/admin/subject-admin.ts'
export type { WriteOptions } from './engine/admin/write-options.ts'
export { createQuota } from './engine/create-quota.ts'
export type { SyncQuotaOptions } from './engine/engine.ts'
export { isSyncQuota } from './engine/engine.ts'
export type { QuotaEvent, QuotaEvents } from './engine/events.ts'
export type { FailurePolicy, QuotaOptions } from './engine/options.ts'
export type { OneOperation, Quota, QuotaInTransaction, SyncOneOperation, SyncQuota } from './engine/quota.ts'
export type {
  CommitResult,
  HeldReservation,
  Hold,
  NearLimit,
  PeekOptions,
  QuotaRequest,
  QuotaStatus,
  Reservation,
  ReserveRequest,
  ResetOptions,
  ResumedReservation,
  RunResult,
  SyncReservation,
} from './engine/requests.ts'
export { type Fault, QuotaError, type QuotaErrorCode } from './errors/quota-error.ts'
export { quotaExceededBody, quotaStatusBody } from './http/body.ts'
export { quotaHeaders } from './http/headers.ts'
export { memorySettings } from './memory/memory-settings.ts'
export { type MemoryStore, type MemoryStoreOptions, memoryStore } from './memory/memory-store.ts'
export type { QuotaLogger } from './options/logger.ts'
export { type CountingOf, definePolicy, type PolicyDefinition, parsePolicy } from './policy/define-policy.ts'
export type { LimitDefinition, OperationInput } from './policy/limit-definition.ts'
export type { LimitSource } from './policy/limits.ts'
export { type Money, type MoneyAmount, money } from './policy/money.ts'
export type { GivenLimit, Limit, LimitNumber, LimitWithBurst, Policy } from './policy/policy.ts'
export type { Mode, Settings, SubjectSettings, VersionedSettings, VersionedSubjectSettings } from './policy/settings.ts'
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
export type { QuotaStore } from './store/quota-store.ts'
export type { SettingsStore } from './store/settings-store.ts'
export type { Clock } from './time/clock.ts'
export type { Calendar } from './windows/kinds/calendar.ts'
export type { Duration } from './windows/kinds/rolling.ts'
