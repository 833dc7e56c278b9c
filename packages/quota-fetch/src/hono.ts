export type { Decision, Quota, RefusedDecision, Subject } from '@scoregw/quota'
export { createQuota, defaultPolicy, memoryStore, QuotaError, simpleQuota } from '@scoregw/quota'
export type { QuotaAnswer, QuotaLogger, QuotaWarningCode, RequestQuota } from '@scoregw/quota/http'
export { ipSubject, QUOTA_HEADER_NAMES, QuotaWarning, quotaStatusBody } from '@scoregw/quota/http'
export {
  type QuotaAppOptions,
  type QuotaHandler,
  type QuotaMiddleware,
  type QuotaMiddlewareOptions,
  type QuotaRouteOptions,
  type QuotaRoutes,
  quotaMiddleware,
} from './hono/middleware.ts'
