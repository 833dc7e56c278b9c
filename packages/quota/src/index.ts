/**
 * For applications that create and call a quota engine. Authors of stores find their ports in `@scoregw/quota/store`,
 * authors of HTTP adapters their core in `@scoregw/quota/http`.
 *
 * @module
 */
export type {
  AdmittedDecision,
  Decision,
  LimitStatus,
  Refusal,
  RefusedDecision,
  UncountedLimit,
} from './decision/decision.ts'
export type { QuotaHolds } from './engine/admin/holds-admin.ts'
export type { CurrentSettings, QuotaSettings, SettingsUpdate } from './engine/admin/settings-admin.ts'
export type { QuotaSubjects } from './engine/admin/subject-admin.ts'
export { createQuota } from './engine/create-quota.ts'
export { isSyncQuota } from './engine/engine.ts'
export type { QuotaEvents } from './engine/events.ts'
export type { QuotaOptions } from './engine/options.ts'
export type { OneOperation, Quota, QuotaInTransaction, SyncOneOperation, SyncQuota } from './engine/quota.ts'
export type {
  CommitResult,
  EmptyReservation,
  HeldLimitStatus,
  HeldReservation,
  Hold,
  QuotaRequest,
  QuotaStatus,
  RefusedReservation,
  RepeatedReservation,
  Reservation,
  ReserveRequest,
  ResumedReservation,
  SyncReservation,
} from './engine/requests.ts'
export { QuotaError, type QuotaErrorCode, QuotaWarning } from './errors/quota-error.ts'
export { memorySettings } from './memory/memory-settings.ts'
export { type MemoryStore, memoryStore } from './memory/memory-store.ts'
export type { QuotaLogger } from './options/logger.ts'
export type { LimitDefinition } from './policy/define-policy.ts'
export { definePolicy, parsePolicy } from './policy/define-policy.ts'
export { type Money, type MoneyAmount, money } from './policy/money.ts'
export type { Limit, LimitWithBurst, Policy } from './policy/policy.ts'
export type { Settings, SubjectSettings, VersionedSettings, VersionedSubjectSettings } from './policy/settings.ts'
export type { Counting, OneUnit, PolicyNames, SeveralUnits } from './policy/units.ts'
export type { Subject } from './store/subjects.ts'
export type { Clock } from './time/clock.ts'
export type { Duration } from './windows/kinds/rolling.ts'
