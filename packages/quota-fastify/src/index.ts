export type { Decision, Quota, RefusedDecision, Subject } from '@scoregw/quota'
export { createQuota, defaultPolicy, memoryStore, QuotaError, simpleQuota } from '@scoregw/quota'
export type {
  AnonymousMode,
  MaybeAsync,
  QuotaAnswer,
  QuotaLogger,
  QuotaWarningCode,
  RequestQuota,
  SettleMode,
} from '@scoregw/quota/http'
export { ipSubject, QUOTA_HEADER_NAMES, QuotaRefusal, QuotaWarning, quotaStatusBody } from '@scoregw/quota/http'
export type { QuotaFastifyOptions, QuotaHandler, QuotaRouteConfig, QuotaRouteOptions } from './options.ts'
export { quotaFastify } from './plugin.ts'
