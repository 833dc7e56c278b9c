/**
 * For whoever makes a quota engine and asks it. Authors of stores find their ports in `@scoregw/quota/store`, authors of
 * HTTP adapters their core in `@scoregw/quota/http`.
 *
 * @module
 */
export type {
  AdmittedDecision,
  Decision,
  LimitKind,
  RefusedDecision,
  UncountedWindow,
  Violation,
  WindowStatus,
} from './decision/decision.ts'
export type { QuotaHolds } from './engine/admin/holds-admin.ts'
export type { QuotaSettings } from './engine/admin/settings-admin.ts'
export type { QuotaSubjects } from './engine/admin/subject-admin.ts'
export type { WriteOptions } from './engine/admin/write-options.ts'
export { createQuota, isSyncQuota, type SyncQuotaOptions } from './engine/create-quota.ts'
export type { QuotaEvent, QuotaEvents } from './engine/events.ts'
export type { FailurePolicy, QuotaOptions } from './engine/options.ts'
export type { Quota, QuotaWithin, SyncQuota } from './engine/quota.ts'
export type {
  CommitResult,
  HeldReservation,
  Hold,
  NearLimit,
  QuotaRequest,
  QuotaStatus,
  Reservation,
  ReserveRequest,
  ResetOptions,
  ResumedReservation,
  RunResult,
  SyncReservation,
} from './engine/requests.ts'
export {
  type Duration,
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
export { type DefinedPolicy, definePolicy } from './policy/define-policy.ts'
export type { Limit, LimitTable, Policy } from './policy/policy.ts'
export type { Mode, Settings, SubjectSettings, VersionedSettings, VersionedSubjectSettings } from './policy/settings.ts'
export { defaultPolicy } from './score-gateway/default-policy.ts'
export type { QuotaStore } from './store/quota-store.ts'
export type { Subject } from './store/schema.ts'
export type { SettingsStore } from './store/settings-store.ts'
export type { Clock } from './time/clock.ts'
export type { Calendar } from './windows/calendar.ts'
