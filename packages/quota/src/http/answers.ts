import { listedLimits, type RefusedDecision } from '../decision/decision.ts'
import { frameOf } from '../decision/outcome.ts'
import type { HeldLimitStatus } from '../engine/requests.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { aFunction, type Check, optional } from '../options/checks.ts'
import type { QuotaLogger } from '../options/logger.ts'
import { calling, isPromiseLike, notPromise } from '../options/promise.ts'
import type { Limit, Policy } from '../policy/policy.ts'
import { isoText } from '../time/zoned.ts'
import { quotaHeaders } from './headers.ts'
import type { MeteredRequest } from './metered-request.ts'
import { neutralAnswers } from './neutral/neutral-answers.ts'
import type { ParsedMeterOptions } from './parse-options.ts'
import {
  answerText,
  type Locale,
  type MessageTexts,
  ownText,
  type QuotaAnswers,
  type QuotaExceededBody,
} from './texts.ts'

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

export interface QuotaExceededOptions {
  /** @default 'en' */
  readonly locale?: Locale | undefined
  /** @default the policy's, else `neutralAnswers()` */
  readonly answers?: QuotaAnswers | undefined
  /** Your own texts, by locale. */
  readonly messages?: MessageTexts | undefined
  /** @default the policy that decided; decisions that were copied no longer have it */
  readonly policy?: Policy | undefined
}

const NEUTRAL: QuotaAnswers = /* @__PURE__ */ neutralAnswers()

/**
 * Returns the body of a 429: the limit that refuses, how much of it is used, and when to retry.
 *
 * @throws {QuotaError} `invalid_options` if `answers` or `messages` return a promise
 */
export function quotaExceededBody(decision: RefusedDecision, options: QuotaExceededOptions = {}): QuotaExceededBody {
  const { locale = 'en', policy = frameOf(decision)?.policy, messages } = options
  const answers = options.answers ?? (policy?.answers as QuotaAnswers | undefined) ?? NEUTRAL
  const body = notPromise(answers(decision, { locale, policy }), 'answers(): expected a body')
  const text = ownText('exceeded', locale, messages)
  if (text === undefined) return body
  return { ...body, msg: notPromise(text({ decision, text: body.msg }), `messages.${locale}: expected a text`) }
}

/** Returns the message of a refusal, for people. */
export function refusalMessage(decision: RefusedDecision, options: QuotaExceededOptions = {}): string {
  return quotaExceededBody(decision, options).msg
}

/** One limit of a quota status, as JSON. */
export interface LimitStatusBody {
  /** The limit's name for people. */
  readonly title: string
  readonly unit: string
  readonly limit: Limit
  /** The most that a bucket can hold. Present for buckets. */
  readonly burst?: Limit
  readonly used: number
  readonly remaining: Limit
  /** The part of `used` that open holds may still refund. Present if above 0. */
  readonly held?: number
  /** ISO 8601 UTC with milliseconds; `null` if the window isn't open, and for concurrency. */
  readonly startedAt: string | null
  readonly resetAt: string | null
}

/** A quota status, as JSON. */
export interface QuotaStatusBody {
  /** The limits that apply to the caller by name, in the policy's order. Without shadowed ones. */
  readonly limits: Readonly<Record<string, LimitStatusBody>>
  /** Present if you passed one. */
  readonly timeZone?: string
}

/**
 * Returns a status as JSON, with times as ISO 8601 text.
 *
 * @param options.timeZone a zone to include, for clients that show local times. Default: none
 */
export function quotaStatusBody(
  status: { readonly limits: Readonly<Record<string, HeldLimitStatus | undefined>> },
  options: { readonly timeZone?: string | undefined } = {},
): QuotaStatusBody {
  const { timeZone } = options
  const limits = listedLimits(status.limits).filter((limit) => limit.enforced)
  return {
    limits: Object.fromEntries(limits.map((limit) => [limit.name, limitBody(limit)])),
    ...(timeZone === undefined ? {} : { timeZone }),
  }
}

function limitBody(status: HeldLimitStatus): LimitStatusBody {
  const { title, unit, limit, burst, used, remaining, held, startedAt, resetAt } = status
  return {
    title,
    unit,
    limit,
    ...(burst === undefined ? {} : { burst }),
    used,
    remaining,
    ...(held === undefined ? {} : { held }),
    startedAt: startedAt === null ? null : isoText(startedAt),
    resetAt: resetAt === null ? null : isoText(resetAt),
  }
}

/** The options with which an application answers itself, by status. */
const HANDLERS = { 429: 'handler', 401: 'onUnauthenticated', 503: 'onUnavailable' } as const

/** Their names, for an adapter's `ownOfRoutes`. */
export const ANSWER_HANDLERS: readonly string[] = Object.values(HANDLERS)

/** Their checks, for an adapter's `own`. */
export function answerHandlerChecks(): Readonly<Record<string, Check<unknown>>> {
  return Object.fromEntries(ANSWER_HANDLERS.map((name) => [name, optional(aFunction())]))
}

/** Returns the application's function for an answer; `undefined`: the adapter sends it. */
export function answerHandlerOf<Handler>(options: object, { status }: QuotaAnswer): Handler | undefined {
  return (options as Readonly<Record<string, Handler | undefined>>)[HANDLERS[status]]
}

/** The error of an application's function that answered nothing. */
export function noResponse({ status }: QuotaAnswer, expected: string): QuotaError {
  const message = `${HANDLERS[status]}() sent nothing, so the request got the default ${status}: ${expected}`
  return new QuotaError('no_response', message)
}

/** What the application's function for an answer does to a response. */
interface OwnAnswer {
  /** Calls the function. */
  answer(): unknown
  /** Whether it has sent a response, or passed the request on; or the client disconnected. */
  isDone(): boolean
  /** Sends the answer as without the function. */
  sendDefault(): void
  /** Passes on what the function throws, or rejects with. */
  failed(error: unknown): void
}

/** How long a function that returned without a promise can still send, in milliseconds. */
const CALLBACK_MS = 1_000

/**
 * Lets the application answer. If its function has sent nothing one second after it returned or its promise resolved,
 * that is logged, and the request gets the default answer.
 */
export function answerByApplication(given: QuotaAnswer, logger: QuotaLogger, own: OwnAnswer): void {
  const sendIfOpen = (): void => {
    if (own.isDone()) return
    logger.error(noResponse(given, 'send a response before it returns, or return a promise'))
    calling(() => own.sendDefault(), own.failed)
  }
  const returned = (): void => {
    if (!own.isDone()) setTimeout(sendIfOpen, CALLBACK_MS)
  }
  calling(() => {
    const result = own.answer()
    if (isPromiseLike(result)) return result.then(returned)
    returned()
    return undefined
  }, own.failed)
}
