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
export type { QuotaFetchOptions, QuotaHandler, QuotaRouteOptions } from './options.ts'
export {
  type FetchHandler,
  type QuotaFetch,
  type QuotaFetchRoutes,
  quotaFetch,
  quotaOf,
  type Wrap,
} from './quota-fetch.ts'
