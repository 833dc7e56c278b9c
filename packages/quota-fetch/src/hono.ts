export type { Decision, Quota, RefusedDecision, Subject } from '@scoregw/quota'
export { createQuota, defaultPolicy, memoryStore, QuotaError, simpleQuota } from '@scoregw/quota'
export type { QuotaAnswer, QuotaLogger, QuotaWarningCode, RequestQuota } from '@scoregw/quota/http'
export { ipSubject, QUOTA_HEADER_NAMES, QuotaRefusal, QuotaWarning, quotaStatusBody } from '@scoregw/quota/http'
export {
  type HonoHandler as QuotaHandler,
  type HonoRouteOptions as QuotaRouteOptions,
  type QuotaAppOptions,
  type QuotaMiddleware,
  type QuotaMiddlewareOptions,
  type QuotaRoutes,
  quotaMiddleware,
} from './hono/middleware.ts'
