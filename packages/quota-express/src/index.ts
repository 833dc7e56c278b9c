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
  type Locale,
  type MaybeAsync,
  type MessageTexts,
  QUOTA_HEADER_NAMES,
  type QuotaAnswer,
  type QuotaExceededBody,
  QuotaRefusal,
  type QuotaUnavailableBody,
  type QuotaWarningCode,
  quotaStatusBody,
  type RequestQuota,
  type SettleMode,
  type UnauthorizedBody,
} from '@scoregw/quota/http'
export { quotaErrorHandler } from './error-handler.ts'
export { type QuotaMiddleware, type QuotaRoutes, quotaMiddleware } from './middleware.ts'
export type { QuotaAppOptions, QuotaHandler, QuotaMiddlewareOptions, QuotaRouteOptions } from './options.ts'
export type { RequestQuotaProperty } from './request-type.ts'
