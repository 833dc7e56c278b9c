import type { RefusedDecision } from '../decision/decision.ts'
import { frameOf } from '../decision/outcome.ts'
import type { HeldWindowStatus } from '../engine/requests.ts'
import type { Limit, Policy } from '../policy/policy.ts'
import { isoText } from '../time/zoned.ts'
import { neutralAnswers } from './neutral/neutral-answers.ts'
import { type Locale, type MessageTexts, ownText, type QuotaAnswers, type QuotaExceededBody } from './texts.ts'

export interface QuotaExceededOptions {
  /** @default 'en' */
  readonly locale?: Locale | undefined
  /** @default those of the policy, else `neutralAnswers()` */
  readonly answers?: QuotaAnswers | undefined
  /** Texts of the application's own, by locale. */
  readonly messages?: MessageTexts | undefined
  /** @default the policy that decided; a copied decision does not carry it */
  readonly policy?: Policy | undefined
}

const NEUTRAL: QuotaAnswers = /* @__PURE__ */ neutralAnswers()

/** The body of a 429: which limit refuses, how much of it is used, and when to try again. */
export function quotaExceededBody(decision: RefusedDecision, options: QuotaExceededOptions = {}): QuotaExceededBody {
  const { locale = 'en', policy = frameOf(decision)?.policy, messages } = options
  const answers = options.answers ?? (policy?.answers as QuotaAnswers | undefined) ?? NEUTRAL
  const body = answers(decision, { locale, policy })
  const text = ownText('exceeded', locale, messages)
  return text === undefined ? body : { ...body, msg: text({ decision, text: body.msg }) }
}

/** The text of a refusal for people. */
export function refusalMessage(decision: RefusedDecision, options: QuotaExceededOptions = {}): string {
  return quotaExceededBody(decision, options).msg
}

/** One limit of a quota status on the wire. */
export interface WindowStatusBody {
  readonly scope: string
  readonly window: string
  /** What the limit counts; there where the policy names its units. */
  readonly unit?: string
  readonly limit: Limit
  /** How many tokens a bucket can save up; there of buckets. */
  readonly burst?: Limit
  readonly used: number
  readonly remaining: Limit
  /** How much of `used` open holds have, and may still give back; there where it is above 0. */
  readonly held?: number
  /** ISO 8601 UTC with milliseconds; `null` when the window is not open, and of concurrency. */
  readonly startedAt: string | null
  readonly resetAt: string | null
}

/** A quota status on the wire. */
export interface QuotaStatusBody {
  /** By category: the limits of each layer that applies to the caller, in the policy's order; shadowed ones are left out. */
  readonly windows: Readonly<Record<string, readonly WindowStatusBody[]>>
  /** There where one was given. */
  readonly timeZone?: string
}

/**
 * A status with instants as ISO text.
 *
 * @param options.timeZone a zone to name in it, for callers who are shown local times. Default: none
 */
export function quotaStatusBody(
  status: { readonly windows: Readonly<Record<string, readonly HeldWindowStatus[]>> },
  options: { readonly timeZone?: string | undefined } = {},
): QuotaStatusBody {
  const entries = Object.entries(status.windows).map(
    ([category, windows]) => [category, windows.filter(({ enforced }) => enforced).map(windowBody)] as const,
  )
  const { timeZone } = options
  return { windows: Object.fromEntries(entries), ...(timeZone === undefined ? {} : { timeZone }) }
}

function windowBody(status: HeldWindowStatus): WindowStatusBody {
  const { scope, window, unit, limit, burst, used, remaining, held, startedAt, resetAt } = status
  return {
    scope,
    window,
    ...(unit === undefined ? {} : { unit }),
    limit,
    ...(burst === undefined ? {} : { burst }),
    used,
    remaining,
    ...(held === undefined || held === 0 ? {} : { held }),
    startedAt: startedAt === null ? null : isoText(startedAt),
    resetAt: resetAt === null ? null : isoText(resetAt),
  }
}
