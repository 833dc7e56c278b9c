import type { RefusedDecision } from '../decision/decision.ts'
import type { QuotaError } from '../errors/quota-error.ts'
import { type QuotaExceededBody, quotaExceededBody } from './body.ts'
import { quotaHeaders } from './headers.ts'
import { answerMessage, type Locale } from './messages.ts'
import type { MeteredRequest } from './metered-request.ts'
import type { ParsedOptions } from './parse-options.ts'

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
  /** Header fields of the answer, `Cache-Control` among them; the body's type and length are the adapter's to say. */
  readonly headers: Readonly<Record<string, string>>
}

/** What a request that may not go on is told; `status` tells which. The body is sent as JSON. */
export type QuotaAnswer = AnyAnswer &
  (
    | {
        readonly status: 429
        readonly body: QuotaExceededBody
        readonly decision: RefusedDecision
        /** What handlers see; there is nothing to settle. */
        readonly quota: MeteredRequest
      }
    | { readonly status: 401; readonly body: UnauthorizedBody }
    | { readonly status: 503; readonly body: QuotaUnavailableBody; readonly error: QuotaError }
  )

/** Wait proposed to callers while the store is away, in seconds. */
const UNAVAILABLE_RETRY_SECONDS = 5

const NO_STORE = { 'Cache-Control': 'no-store' } as const

type AnswerOptions = Pick<
  ParsedOptions<never>,
  'standardHeaders' | 'supportForumUrl' | 'messages' | 'timeZone' | 'wwwAuthenticate'
>

export function exceeded(
  quota: MeteredRequest,
  decision: RefusedDecision,
  locale: Locale,
  options: AnswerOptions,
): QuotaAnswer {
  const { standardHeaders, supportForumUrl, messages, timeZone } = options
  const headers = { ...quotaHeaders(decision, { standardHeaders }), ...NO_STORE }
  const body = quotaExceededBody(decision, { locale, supportForumUrl, messages, timeZone })
  return { kind: 'answer', status: 429, headers, body, decision, quota }
}

export function unauthorized(locale: Locale, { messages, wwwAuthenticate }: AnswerOptions): QuotaAnswer {
  const body = { error: 'unauthorized', msg: answerMessage('unauthorized', locale, messages) } as const
  return { kind: 'answer', status: 401, headers: { 'WWW-Authenticate': wwwAuthenticate, ...NO_STORE }, body }
}

export function unavailable(error: QuotaError, locale: Locale, { messages }: AnswerOptions): QuotaAnswer {
  const retryAfterSeconds = UNAVAILABLE_RETRY_SECONDS
  const msg = answerMessage('unavailable', locale, messages)
  const body = { error: 'quota_unavailable', msg, retryAfterSeconds } as const
  return {
    kind: 'answer',
    status: 503,
    headers: { 'Retry-After': String(retryAfterSeconds), ...NO_STORE },
    body,
    error,
  }
}
