export {
  createQuota,
  type Decision,
  definePolicy,
  memoryStore,
  money,
  type Quota,
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
  QuotaRefusal,
  type QuotaWarningCode,
  quotaStatusBody,
  type RequestQuota,
  type SettleMode,
} from '@scoregw/quota/http'
export type { QuotaFetchOptions, QuotaHandler, QuotaRouteOptions } from './options.ts'
export {
  type FetchHandler,
  type QuotaFetch,
  type QuotaFetchRoutes,
  quotaFetch,
  quotaOf,
  type Wrap,
} from './quota-fetch.ts'
