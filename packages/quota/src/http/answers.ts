import type { RefusedDecision } from '../decision/decision.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { quotaExceededBody } from './body.ts'
import { quotaHeaders } from './headers.ts'
import type { MeteredRequest } from './metered-request.ts'
import type { ParsedMeterOptions } from './parse-options.ts'
import { answerText, type Locale, type QuotaAnswers, type QuotaExceededBody } from './texts.ts'

/** The body of a 401. */
export interface UnauthorizedBody {
  readonly error: 'unauthorized'
  readonly msg: string
}

/** The body of a 503. */
export interface QuotaUnavailableBody {
  readonly error: 'quota_unavailable'
  readonly msg: string
  /** Whole seconds to wait. */
  readonly retryAfterSeconds: number
}

interface AnyAnswer {
  readonly kind: 'answer'
  /** The response's header fields, including `Cache-Control`, excluding `Content-Type`. */
  readonly headers: Readonly<Record<string, string>>
  /** The JSON to send: `body`, or its problem details. */
  readonly content: QuotaExceededBody | UnauthorizedBody | QuotaUnavailableBody | ProblemDetails
  /** The `Content-Type` of `content`. */
  readonly contentType: string
}

type EachAnswer = AnyAnswer &
  (
    | {
        readonly status: 429
        readonly body: QuotaExceededBody
        readonly decision: RefusedDecision
        /** For error handlers. A refused request has nothing to settle. */
        readonly quota: MeteredRequest
      }
    | { readonly status: 401; readonly body: UnauthorizedBody }
    | { readonly status: 503; readonly body: QuotaUnavailableBody; readonly error: QuotaError }
  )

/** The response to a request that doesn't reach its handler: a 429, 401 or 503. */
export type QuotaAnswer<Status extends EachAnswer['status'] = EachAnswer['status']> = Extract<
  EachAnswer,
  { readonly status: Status }
>

/** `Retry-After` of a 503, in seconds. */
const UNAVAILABLE_RETRY_SECONDS = 5

const NO_STORE = { 'Cache-Control': 'no-store' } as const
const JSON_TYPE = 'application/json; charset=utf-8'
const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

type AnswerOptions = Pick<
  ParsedMeterOptions<never>,
  | 'quota'
  | 'logger'
  | 'answers'
  | 'messages'
  | 'standardHeaders'
  | 'fields'
  | 'legacyHeaders'
  | 'problemDetails'
  | 'wwwAuthenticate'
>

export function exceeded(
  quota: MeteredRequest,
  decision: RefusedDecision,
  locale: Locale,
  options: AnswerOptions,
): QuotaAnswer {
  const body = bodyOf(decision, locale, options)
  const answers = options.answers ?? (options.quota.policy.answers as QuotaAnswers | undefined)
  const alwaysRetryAfter = answers?.alwaysRetryAfter
  const headers = Object.assign(quotaHeaders(decision, { ...options, alwaysRetryAfter }), NO_STORE)
  const sent = contentOf(options, body, () => quotaExceededProblem(body, decision))
  return { kind: 'answer', status: 429, headers, body, ...sent, decision, quota }
}

/** An asynchronous text or body is the application's mistake, not the client's: it is logged, and the default is sent. */
function bodyOf(decision: RefusedDecision, locale: Locale, options: AnswerOptions): QuotaExceededBody {
  const { answers, messages, logger } = options
  const { policy } = options.quota
  try {
    return quotaExceededBody(decision, { locale, answers, messages, policy })
  } catch (error) {
    if (!(error instanceof QuotaError) || error.code !== 'invalid_options') throw error
    logger.error(error)
    return quotaExceededBody(decision, { locale, policy })
  }
}

export function unauthorized(locale: Locale, options: AnswerOptions): QuotaAnswer {
  const body = { error: 'unauthorized', msg: answerText('unauthorized', locale, options.messages) } as const
  const headers = { 'WWW-Authenticate': options.wwwAuthenticate, ...NO_STORE }
  return { kind: 'answer', status: 401, headers, body, ...contentOf(options, body, () => problemOf(401, body)) }
}

export function unavailable(error: QuotaError, locale: Locale, options: AnswerOptions): QuotaAnswer {
  const retryAfterSeconds = UNAVAILABLE_RETRY_SECONDS
  const msg = answerText('unavailable', locale, options.messages)
  const body = { error: 'quota_unavailable', msg, retryAfterSeconds } as const
  const headers = { 'Retry-After': String(retryAfterSeconds), ...NO_STORE }
  return { kind: 'answer', status: 503, headers, body, ...contentOf(options, body, () => problemOf(503, body)), error }
}

function contentOf(
  { problemDetails }: AnswerOptions,
  body: AnyAnswer['content'],
  problem: () => ProblemDetails,
): Pick<AnyAnswer, 'content' | 'contentType'> {
  return problemDetails ? { content: problem(), contentType: PROBLEM_TYPE } : { content: body, contentType: JSON_TYPE }
}

/**
 * A response body as problem details (RFC 9457). It also has the members of the plain body, except `error` and `msg`.
 */
export interface ProblemDetails {
  /** A URI that identifies the kind of problem. */
  readonly type: string
  readonly title: string
  readonly status: number
  /** Text for people: `msg` of the plain body. */
  readonly detail: string
  readonly [member: string]: unknown
}

/** Type and title that draft-ietf-httpapi-ratelimit-headers registers for an exceeded quota. */
const QUOTA_EXCEEDED = {
  type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
  title: 'Request cannot be satisfied as assigned quota has been exceeded',
} as const

/** A refusal as problem details. `violated-policies` lists the limits that refuse, by their names in `RateLimit`. */
function quotaExceededProblem(
  { error: _, msg: detail, ...members }: QuotaExceededBody,
  { refusals }: RefusedDecision,
): ProblemDetails {
  const names = refusals.map(({ name }) => name)
  return { ...QUOTA_EXCEEDED, status: 429, detail, 'violated-policies': names, ...members }
}

const TITLES = { 401: 'Unauthorized', 503: 'Service Unavailable' } as const

/** Any other response as problem details. The type `about:blank` means the same as the status (RFC 9457). */
function problemOf(
  status: keyof typeof TITLES,
  { error: _, msg: detail, ...members }: { readonly error: string; readonly msg: string },
): ProblemDetails {
  return { type: 'about:blank', title: TITLES[status], status, detail, ...members }
}
