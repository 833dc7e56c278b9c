export type { Decision, Quota, RefusedDecision, Subject } from '@scoregw/quota'
export { createQuota, defaultPolicy, memoryStore, QuotaError, simpleQuota } from '@scoregw/quota'
export type {
  AnonymousMode,
  Locale,
  MaybeAsync,
  MessageTexts,
  QuotaAnswer,
  QuotaExceededBody,
  QuotaLogger,
  QuotaUnavailableBody,
  QuotaWarningCode,
  RequestQuota,
  SettleMode,
  UnauthorizedBody,
} from '@scoregw/quota/http'
export { ipSubject, QUOTA_HEADER_NAMES, QuotaRefusal, QuotaWarning, quotaStatusBody } from '@scoregw/quota/http'
export { quotaErrorHandler } from './error-handler.ts'
export { type QuotaMiddleware, type QuotaRoutes, quotaMiddleware } from './middleware.ts'
export type { QuotaAppOptions, QuotaHandler, QuotaMiddlewareOptions, QuotaRouteOptions } from './options.ts'
export type { RequestQuotaProperty } from './request-type.ts'
