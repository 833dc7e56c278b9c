/**
 * For authors of HTTP adapters, and for routes that answer by themselves.
 *
 * @module
 */

export type { ProblemDetails, QuotaAnswer, QuotaUnavailableBody, UnauthorizedBody } from './http/answers.ts'
export {
  type LimitStatusBody,
  type QuotaExceededOptions,
  type QuotaStatusBody,
  quotaExceededBody,
  quotaStatusBody,
  refusalMessage,
} from './http/answers.ts'
export { AdmittedRequest, Exchange } from './http/exchange.ts'
export {
  type FieldsOption,
  QUOTA_HEADER_NAMES,
  quotaHeaders,
  type RateLimitFields,
  rateLimitHeaders,
  refusalHeaders,
  type StandardHeaders,
} from './http/headers.ts'
export { type Admission, type GoneRequest, HttpMeter, type PassedRequest } from './http/http-meter.ts'
export { QuotaRefusal } from './http/in-transaction.ts'
export { ipSubject } from './http/ip-subject.ts'
export { type NeutralAnswersOptions, neutralAnswers } from './http/neutral/neutral-answers.ts'
export type { NodeRequest, NodeResponse } from './http/node/response-gate.ts'
export { watchResponse } from './http/node/watch-response.ts'
export type {
  AnonymousMode,
  HttpAdapter,
  HttpMeterOptions,
  HttpRequest,
  MaybeAsync,
  RequestLimits,
  RequestQuota,
  RouteOptions,
  SettleMode,
} from './http/options.ts'
export { httpMeter } from './http/plain-meter.ts'
export {
  type AnswerContext,
  type AnswerTexts,
  type Locale,
  type MessageFacts,
  type MessageTexts,
  preferredLocale,
  type QuotaAnswers,
  type QuotaExceededBody,
} from './http/texts.ts'
export type { QuotaWarningCode } from './http/warnings.ts'
