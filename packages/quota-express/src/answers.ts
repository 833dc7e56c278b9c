import {
  type Locale,
  type MessageTexts,
  type QuotaError,
  type QuotaExceededBody,
  quotaExceededBody,
  quotaHeaders,
  type RefusedDecision,
} from '@scoregw/quota'
import type { NextFunction, Request, Response } from 'express'
import { localeOf } from './locale.ts'

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

/** What a request that may not go on is told; `status` tells which. */
export type QuotaAnswer =
  | { readonly status: 429; readonly body: QuotaExceededBody; readonly decision: RefusedDecision }
  | { readonly status: 401; readonly body: UnauthorizedBody }
  | { readonly status: 503; readonly body: QuotaUnavailableBody; readonly error: QuotaError }

/** Wait proposed to callers while the store is away, in seconds. */
const UNAVAILABLE_RETRY_SECONDS = 5

const UNAUTHORIZED: Readonly<Record<Locale, string>> = {
  en: 'Credentials are needed for this request.',
  'zh-CN': '此请求需要身份凭证。',
}

const UNAVAILABLE: Readonly<Record<Locale, string>> = {
  en: 'The quota service is not available right now. Please try again soon.',
  'zh-CN': '配额服务暂时不可用，请稍后重试。',
}

/** Answers a request that may not go on; the header fields are already on `res`, status and body are not. */
export type QuotaHandler = (req: Request, res: Response, next: NextFunction, answer: QuotaAnswer) => unknown

/** How answers are made; the meaning of each is told at the middleware's options. */
export interface AnswerOptions {
  readonly handler?: QuotaHandler | undefined
  readonly locale?: Locale | ((req: Request) => Locale) | undefined
  readonly standardHeaders: 'draft-10' | false
  readonly supportForumUrl?: string | undefined
  readonly messages?: MessageTexts | undefined
}

/** Answers requests that may not go on, or lets the application's handler do so. */
export class Answers {
  readonly #options: AnswerOptions

  constructor(options: AnswerOptions) {
    this.#options = options
  }

  exceeded(req: Request, res: Response, next: NextFunction, decision: RefusedDecision): void {
    const { supportForumUrl, messages, standardHeaders } = this.#options
    const body = quotaExceededBody(decision, { locale: this.#locale(req), supportForumUrl, messages })
    this.#answer(req, res, next, quotaHeaders(decision, { standardHeaders }), { status: 429, body, decision })
  }

  unauthorized(req: Request, res: Response, next: NextFunction): void {
    const body = { error: 'unauthorized', msg: UNAUTHORIZED[this.#locale(req)] } as const
    this.#answer(req, res, next, { 'WWW-Authenticate': 'Bearer' }, { status: 401, body })
  }

  unavailable(req: Request, res: Response, next: NextFunction, error: QuotaError): void {
    const retryAfterSeconds = UNAVAILABLE_RETRY_SECONDS
    const body = { error: 'quota_unavailable', msg: UNAVAILABLE[this.#locale(req)], retryAfterSeconds } as const
    this.#answer(req, res, next, { 'Retry-After': String(retryAfterSeconds) }, { status: 503, body, error })
  }

  #locale(req: Request): Locale {
    const { locale } = this.#options
    if (locale === undefined) return localeOf(req)
    return typeof locale === 'function' ? locale(req) : locale
  }

  #answer(
    req: Request,
    res: Response,
    next: NextFunction,
    headers: Readonly<Record<string, string>>,
    answer: QuotaAnswer,
  ): void {
    res.set({ ...headers, 'Cache-Control': 'no-store' })
    const { handler } = this.#options
    if (handler === undefined) {
      res.status(answer.status).json(answer.body)
      return
    }
    // An async handler that fails is the application's error like any other.
    Promise.resolve(handler(req, res, next, answer)).catch(next)
  }
}
