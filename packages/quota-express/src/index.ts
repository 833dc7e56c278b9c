export type {
  Decision,
  Locale,
  MessageTexts,
  Quota,
  QuotaExceededBody,
  RefusedDecision,
  Subject,
} from '@scoregw/quota'
export {
  createQuota,
  defaultPolicy,
  memoryStore,
  QUOTA_HEADER_NAMES,
  QuotaError,
  quotaStatusBody,
} from '@scoregw/quota'
export type { QuotaAnswer, QuotaHandler, QuotaUnavailableBody, UnauthorizedBody } from './answers.ts'
export { quotaErrorHandler } from './error-handler.ts'
export { ipSubject } from './ip-subject.ts'
export { type QuotaMiddleware, type QuotaRoutes, quotaMiddleware } from './middleware.ts'
export type {
  AnonymousMode,
  MaybeAsync,
  QuotaAppOptions,
  QuotaMiddlewareOptions,
  QuotaRouteOptions,
  RequestQuota,
  SettleMode,
} from './options.ts'
export type { RequestQuotaProperty } from './request-type.ts'
export { type QuotaLogger, QuotaWarning, type QuotaWarningCode } from './warnings.ts'
