export { QuotaWarning } from './errors/quota-warning.ts'
export { AdmittedRequest } from './http/admitted-request.ts'
export {
  ANSWER_HANDLERS,
  answerByApplication,
  answerHandlerChecks,
  answerHandlerOf,
  noResponse,
  type OwnAnswer,
} from './http/answer-handlers.ts'
export type { ProblemDetails, QuotaAnswer, QuotaUnavailableBody, UnauthorizedBody } from './http/answers.ts'
export {
  type QuotaExceededOptions,
  type QuotaStatusBody,
  quotaExceededBody,
  quotaStatusBody,
  refusalMessage,
  type WindowStatusBody,
} from './http/body.ts'
export { Exchange } from './http/exchange.ts'
export {
  type FieldsOption,
  type NamedFields,
  QUOTA_HEADER_NAMES,
  quotaHeaders,
  type RateLimitFields,
  rateLimitHeaders,
  refusalHeaders,
  type StandardHeaders,
} from './http/headers.ts'
export {
  type Admission,
  type GoneRequest,
  HttpMeter,
  type PassedRequest,
} from './http/http-meter.ts'
export { QuotaRefusal } from './http/in-transaction.ts'
export { ipSubject } from './http/ip-subject.ts'
export { MeteredRequest, type MeteringOptions } from './http/metered-request.ts'
export { type NeutralAnswersOptions, neutralAnswers } from './http/neutral/neutral-answers.ts'
export { expressProxyFault, fastifyProxyFault } from './http/node/proxy-faults.ts'
export type { NodeRequest, NodeResponse } from './http/node/response-gate.ts'
export { watchResponse } from './http/node/watch-response.ts'
export type {
  AnonymousMode,
  CostOfHandlers,
  HandlerUnits,
  HttpAdapter,
  HttpMeterOptions,
  HttpRequest,
  MaybeAsync,
  ProxyFault,
  RequestQuota,
  RouteOptions,
  SettleMode,
  UnitsOfHandlers,
} from './http/options.ts'
export type { PendingResponse } from './http/pending-response.ts'
export { httpMeter, type PlainMeterOptions } from './http/plain-meter.ts'
export type { AnswerContext, QuotaAnswers, QuotaExceededBody } from './http/texts.ts'
export {
  type AnswerTexts,
  LOCALES,
  type Locale,
  type MessageFacts,
  type MessageTexts,
  preferredLocale,
} from './http/texts.ts'
export {
  QUOTA_WARNING_CODES,
  type QuotaWarningCode,
} from './http/warnings.ts'
export { watchedStream } from './http/watched-stream.ts'
export type { QuotaLogger } from './options/logger.ts'
export { calling, isPromiseLike } from './options/promise.ts'
export { operationOf } from './policy/policy.ts'
export { onAbort } from './time/on-abort.ts'
export { isoText, isTimeZone } from './time/zoned.ts'
