export {
  createQuota,
  type Decision,
  definePolicy,
  memoryStore,
  money,
  QuotaError,
  type QuotaLogger,
  QuotaWarning,
  type RefusedDecision,
  type Subject,
} from '@scoregw/quota'
export {
  type AnonymousMode,
  ipSubject,
  type MaybeAsync,
  QUOTA_HEADER_NAMES,
  type QuotaAnswer,
  type QuotaWarningCode,
  quotaStatusBody,
  type SettleMode,
} from '@scoregw/quota/http'
export type { NestRequest } from './adapter.ts'
export { Charge, Quota, RequestQuota } from './decorators.ts'
export { QuotaException, QuotaGuard } from './guard.ts'
export { InjectQuota, QuotaModule } from './module.ts'
export type { QuotaModuleAsyncOptions, QuotaModuleOptions, QuotaRouteOptions } from './options.ts'
