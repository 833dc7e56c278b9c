export type { Decision, RefusedDecision, Subject } from '@scoregw/quota'
export { createQuota, defaultPolicy, memoryStore, QuotaError, simpleQuota } from '@scoregw/quota'
export type {
  AnonymousMode,
  MaybeAsync,
  QuotaAnswer,
  QuotaLogger,
  QuotaWarningCode,
  SettleMode,
} from '@scoregw/quota/http'
export { ipSubject, QUOTA_HEADER_NAMES, QuotaWarning, quotaStatusBody } from '@scoregw/quota/http'
export type { NestRequest } from './adapter.ts'
export { Charge, Quota, RequestQuota } from './decorators.ts'
export { QuotaException, QuotaGuard } from './guard.ts'
export { InjectQuota, QuotaModule } from './module.ts'
export type { QuotaModuleAsyncOptions, QuotaModuleOptions, QuotaRouteOptions } from './options.ts'
