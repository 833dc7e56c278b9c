export type { HttpAdapter, HttpRequest, ProxyFault } from './http/adapter.ts'
export type { QuotaAnswer, QuotaUnavailableBody, UnauthorizedBody } from './http/answers.ts'
export {
  type QuotaExceededBody,
  type QuotaExceededOptions,
  type QuotaStatusBody,
  quotaExceededBody,
  quotaStatusBody,
  type WindowStatusBody,
} from './http/body.ts'
export type { DraftFields } from './http/draft-texts.ts'
export { Exchange } from './http/exchange.ts'
export { QUOTA_HEADER_NAMES, quotaHeaders, rateLimitHeaders, refusalHeaders } from './http/headers.ts'
export {
  type Admission,
  type AdmittedOptions,
  AdmittedRequest,
  HttpMeter,
  httpMeter,
  type PassedRequest,
  type PlainMeterOptions,
} from './http/http-meter.ts'
export { ipSubject } from './http/ip-subject.ts'
export {
  type AnswerTexts,
  LOCALES,
  type Locale,
  type MessageFacts,
  type MessageTexts,
  refusalMessage,
} from './http/messages.ts'
export { MeteredRequest, type MeteringOptions } from './http/metered-request.ts'
export { addToHead, headIsText } from './http/node/head-text.ts'
export { type NodeRequest, type NodeResponse, nodeCarrier } from './http/node/node-response.ts'
export { hookedWriteHead, type WatchDetails, type WriteHead, watchResponse } from './http/node/watch-response.ts'
export type {
  AnonymousMode,
  HttpMeterOptions,
  MaybeAsync,
  RequestQuota,
  RouteOptions,
  SettleMode,
} from './http/options.ts'
export {
  QUOTA_WARNING_CODES,
  type QuotaLogger,
  QuotaWarning,
  type QuotaWarningCode,
  type ValidateOption,
} from './http/warnings.ts'
export { BEIJING_TIME_ZONE, beijingText, isoText } from './time/beijing.ts'
export { isTimeZone, zonedText } from './time/zoned.ts'
