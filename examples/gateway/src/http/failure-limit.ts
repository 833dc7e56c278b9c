import { type Clock, createQuota, definePolicy, memoryStore, type RefusedDecision } from '@scoregw/quota'
import { type Locale, quotaHeaders } from '@scoregw/quota/http'
import { beijingText } from '@scoregw/quota/score-gateway'
import type { Request } from 'express'
import { callerKey } from './caller.ts'
import { HttpError } from './http-error.ts'

/** Statuses that are the caller's own fault; a missing document or a lost race is not. */
const FAILURES: ReadonlySet<number> = new Set([400, 401, 413, 415, 422])

/** Bounds how many requests of one caller may fail. */
export interface FailureLimit {
  /**
   * To be called once the caller is identified, before anything else of the request is examined.
   * @throws {FailuresExceeded}
   */
  check(req: Request): void
  /** Whether a refused caller would get the same answer now, to the letter. */
  isStill(refusal: FailuresExceeded): boolean
  /** To be called with the status of each request that did not succeed. */
  count(req: Request, status: number): void
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

  constructor(decision: RefusedDecision, locale: Locale) {
    const { retryAfterSeconds } = decision
    super('too_many_failures', TEXTS[locale](decision), { retryAfterSeconds, headers: { ...quotaHeaders(decision) } })
    this.from = decision.now
    this.until = decision.resetAt - (retryAfterSeconds - 1) * 1_000
  }
}

const TEXTS: Readonly<Record<Locale, (decision: RefusedDecision) => string>> = {
  en: ({ binding }) =>
    `${binding.used} of your requests failed within ${binding.window}, and no more may: look at their errors, ` +
    `and try again after ${beijingText(binding.resetAt)} Beijing Time (UTC+8).`,
  'zh-CN': ({ binding }) =>
    `您在 ${binding.window} 内有 ${binding.used} 个请求出错，已达上限：请检查错误原因，并于北京时间 ${beijingText(binding.resetAt)} 后重试。`,
}

const UNLIMITED: FailureLimit = { check: () => undefined, isStill: () => false, count: () => undefined }

/**
 * A limit of failures: another policy on an engine of its own, whose counters are in this process. A token is charged
 * when a request has failed; one that finds none left is refused unread.
 */
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
  const failing = (req: Request) => ({ subject: callerKey(req), operation: 'fail' }) as const
  return {
    check(req) {
      const decision = quota.peekSync(failing(req))
      if (!decision.allowed) throw new FailuresExceeded(decision, localeOf(req))
    },
    isStill({ from, until }) {
      const now = clock.now()
      return from <= now && now < until
    },
    count(req, status) {
      if (FAILURES.has(status)) quota.consumeSync(failing(req))
    },
  }
}

function localeOf(req: Request): Locale {
  return String(req.acceptsLanguages('en', 'zh')).startsWith('zh') ? 'zh-CN' : 'en'
}
