import type { RefusedDecision } from '../decision/decision.ts'
import type { Policy } from '../policy/policy.ts'
import type { Locale } from './texts.ts'

/** The body of a 429. */
export interface QuotaExceededBody {
  readonly error: 'quota_exceeded'
  /** Text for people: which limit is reached, and when to try again. */
  readonly msg: string
  /** Whole seconds to wait, at least 1. */
  readonly retryAfterSeconds: number
  /** The limit that binds. */
  readonly quota: {
    /** Who shares the limit, for example `team`; there where the policy has several layers. */
    readonly scope?: string
    /** There where the policy has several. */
    readonly category?: string
    /** Label of the limit, for example `1h`. */
    readonly window: string
    /** What the limit counts; there where the policy names its units. */
    readonly unit?: string
    /** Limit, used and requested in that unit, else in tokens; of concurrency in slots. */
    readonly limit: number
    readonly used: number
    readonly requested: number
    /** ISO 8601 UTC with milliseconds. */
    readonly resetAt: string
  }
}

/** What the answer to a refusal may depend on, beside the decision. */
export interface AnswerContext {
  readonly locale: Locale
  /** The policy that refused; `undefined` where it is unknown. */
  readonly policy: Policy | undefined
}

/** Makes the body of a 429: `neutralAnswers()`, `scoreGatewayAnswers()`, or a function of one's own. */
export type QuotaAnswers = (decision: RefusedDecision, context: AnswerContext) => QuotaExceededBody
