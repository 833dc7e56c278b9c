import { type Clock, type Counting, createQuota, definePolicy, memoryStore, type RefusedDecision } from '@scoregw/quota'
import { type Locale, quotaHeaders } from '@scoregw/quota/http'
import { beijingText } from '@scoregw/quota/score-gateway'
import { quotaMiddleware } from '@scoregw/quota-express'
import type { Request, RequestHandler } from 'express'
import { HttpError } from './http-error.ts'
import { callerKey } from './request-context.ts'

/** Statuses that are the caller's own fault; a missing document or a lost race is not. */
const FAILURES: ReadonlySet<number> = new Set([400, 401, 413, 415, 422])

/** Limits how many requests of one caller may fail. */
export interface FailureLimit {
  /**
   * Charges a request as if it had failed, or refuses it with {@link FailuresExceeded}. Comes once the caller is
   * identified, before anything else of the request is examined. A success gives the charge back.
   */
  readonly charge: RequestHandler
  /** Gives the charge back unless this status is a failure: for errors, which have no response yet and may never have one. */
  judge(req: Request, status: number): void
  /** Whether a refused caller would get exactly the same answer now. */
  isStill(refusal: FailuresExceeded): boolean
}

export interface FailureLimitOptions {
  /** Requests of one caller that may fail in a window; 0: any number. */
  readonly limit: number
  readonly windowMs: number
  readonly clock: Clock
}

/** 429: too many requests of the caller have failed. */
export class FailuresExceeded extends HttpError {
  override readonly name = 'FailuresExceeded'
  /** From when to before when it is true, epoch milliseconds: for as long as the seconds to wait are the same. */
  readonly from: number
  readonly until: number

  readonly caller: string

  constructor(decision: RefusedDecision<Counting>, caller: string, locale: Locale) {
    const { retryAfterSeconds } = decision
    super('too_many_failures', TEXTS[locale](decision), { retryAfterSeconds, headers: { ...quotaHeaders(decision) } })
    this.caller = caller
    this.from = decision.now
    this.until = decision.resetAt - (retryAfterSeconds - 1) * 1_000
  }
}

const TEXTS: Readonly<Record<Locale, (decision: RefusedDecision<Counting>) => string>> = {
  en: ({ binding }) =>
    `${binding.used} of your requests failed within ${binding.window}, or have no answer yet, and no more may: ` +
    `read their errors, and try again after ${beijingText(binding.resetAt)} Beijing Time (UTC+8).`,
  'zh-CN': ({ binding }) =>
    `您在 ${binding.window} 内有 ${binding.used} 个请求出错或尚未完成，已达上限：请检查错误原因，并于北京时间 ${beijingText(binding.resetAt)} 后重试。`,
}

const UNLIMITED: FailureLimit = {
  charge: (_req, _res, next) => next(),
  judge: () => undefined,
  isStill: () => false,
}

/** A limit of failures: another policy on an engine of its own, whose counters are in this process. */
export function failureLimit({ limit, windowMs, clock }: FailureLimitOptions): FailureLimit {
  if (limit === 0) return UNLIMITED
  const window = `${windowMs / 1_000}s`
  const policy = definePolicy({
    windows: [{ label: window, lengthMs: windowMs }],
    categories: ['failure'],
    layers: [{ name: 'caller' }],
    operations: { fail: { category: 'failure', cost: 1 } },
    base: { caller: { failure: { [window]: limit } } },
  })
  // Where so many callers fail that no more can be counted, those who do not are served all the same.
  const quota = createQuota({ policy, store: memoryStore({ clock }), clock, failurePolicy: { failure: 'open' } })
  const metered = quotaMiddleware({
    quota,
    settle: 'failures',
    isFailure: (status) => FAILURES.has(status),
    subject: callerKey,
    requestPropertyName: 'failures',
    standardHeaders: false,
    handler: (req, _res, next, answer) =>
      next(answer.status === 429 ? new FailuresExceeded(answer.decision, callerKey(req), localeOf(req)) : answer),
  })
  return {
    charge: metered.operation('fail'),
    judge(req, status) {
      // The counters are in memory: there is nothing to wait for.
      if (!FAILURES.has(status)) void metered.of(req)?.cancel()
    },
    isStill({ from, until, caller }) {
      const now = clock.now()
      return from <= now && now < until && !quota.peekSync({ subject: caller, operation: 'fail' }).allowed
    },
  }
}

function localeOf(req: Request): Locale {
  return String(req.acceptsLanguages('en', 'zh')).startsWith('zh') ? 'zh-CN' : 'en'
}
