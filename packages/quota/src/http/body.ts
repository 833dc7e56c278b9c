import type { RefusedDecision } from '../decision/decision.ts'
import { listedLimits } from '../decision/listed.ts'
import { frameOf } from '../decision/outcome.ts'
import type { HeldLimitStatus } from '../engine/requests.ts'
import { notPromise } from '../options/promise.ts'
import type { Limit, Policy } from '../policy/policy.ts'
import { isoText } from '../time/zoned.ts'
import { neutralAnswers } from './neutral/neutral-answers.ts'
import { type Locale, type MessageTexts, ownText, type QuotaAnswers, type QuotaExceededBody } from './texts.ts'

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
    ...(held === undefined || held === 0 ? {} : { held }),
    startedAt: startedAt === null ? null : isoText(startedAt),
    resetAt: resetAt === null ? null : isoText(resetAt),
  }
}
