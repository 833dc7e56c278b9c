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
  ipSubject,
  QUOTA_HEADER_NAMES,
  type QuotaAnswer,
  QuotaRefusal,
  type QuotaWarningCode,
  quotaStatusBody,
  type RequestQuota,
} from '@scoregw/quota/http'
export {
  type HonoHandler as QuotaHandler,
  type HonoRouteOptions as QuotaRouteOptions,
  type QuotaAppOptions,
  type QuotaMiddleware,
  type QuotaMiddlewareOptions,
  type QuotaRoutes,
  quotaMiddleware,
} from './hono/middleware.ts'
