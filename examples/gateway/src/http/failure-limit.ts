import { type Clock, type Counting, createQuota, definePolicy, memoryStore, type RefusedDecision } from '@scoregw/quota'
import { type Locale, quotaHeaders } from '@scoregw/quota/http'
import { beijingText } from '@scoregw/quota/score-gateway'
import { quotaMiddleware } from '@scoregw/quota-express'
import type { Request, RequestHandler } from 'express'
import { HttpError } from './http-error.ts'
import { callerKey } from './request-context.ts'

/** Statuses that are the caller's fault. A missing document or a lost race isn't. */
const FAILURES: ReadonlySet<number> = new Set([400, 401, 413, 415, 422])

/** Limits how many requests of one caller may fail. */
export interface FailureLimit {
  /**
   * Charges a request as if it had failed, or refuses it with {@link FailuresExceeded}. Runs as soon as the caller is
   * identified, before anything else in the request is examined. A success refunds the charge.
   */
  readonly charge: RequestHandler
  /** Refunds the charge unless this status is a failure. Used for errors, which may never send a response. */
  judge(req: Request, status: number): void
  /** Whether a refused caller would get exactly the same response now. */
  isStill(refusal: FailuresExceeded): boolean
}

export interface FailureLimitOptions {
  /** How many requests of one caller may fail per window; 0 means any number. */
  readonly limit: number
  readonly windowMs: number
  readonly clock: Clock
}

/** 429: too many requests of the caller have failed. */
export class FailuresExceeded extends HttpError {
  override readonly name = 'FailuresExceeded'
  /**
   * The period in which this response is accurate, epoch milliseconds: as long as the seconds to wait stay the same.
   */
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

/** Limits failures with a policy and an engine of its own. Its counters are in the memory of this process. */
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
  // If too many callers fail to be counted, callers who don't fail are still served.
  const quota = createQuota({ policy, store: memoryStore({ clock }), clock, failurePolicy: { failure: 'open' } })
  const metered = quotaMiddleware({
    quota,
    settle: 'failures',
    isFailure: (status) => FAILURES.has(status),
    subject: callerKey,
    requestPropertyName: 'failures',
    standardHeaders: false,
    handler: (req, _res, next, { decision }) => next(new FailuresExceeded(decision, callerKey(req), localeOf(req))),
  })
  return {
    charge: metered.operation('fail'),
    judge(req, status) {
      // The counters are in memory, so there is nothing to await.
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
