import type { RefusedDecision } from '../decision/decision.ts'
import type { HeldWindowStatus } from '../engine/requests.ts'
import type { Limit } from '../policy/policy.ts'
import { BEIJING_TIME_ZONE, isoText } from '../time/beijing.ts'
import { zonedText } from '../time/zoned.ts'
import { type Locale, type MessageTexts, refusalMessage, windowLabel } from './messages.ts'

/** The body of a 429. */
export interface QuotaExceededBody {
  readonly error: 'quota_exceeded'
  /** Text for people: layer, window, category, and when to go on, in local time. */
  readonly msg: string
  /** Whole seconds to wait, at least 1. */
  readonly retryAfterSeconds: number
  /** The limit that binds. */
  readonly quota: {
    /** The layer, for example `Personal`. */
    readonly scope: string
    readonly category: string
    /** Label of the limit, for example `1h`. */
    readonly window: string
    /** Limit, used and requested in tokens; of concurrency in slots. */
    readonly limit: number
    readonly used: number
    readonly requested: number
    /** ISO 8601 UTC with milliseconds. */
    readonly resetAt: string
    /** `yyyy-MM-dd HH:mm:ss`, never earlier than `resetAt`; there in the default zone, `Asia/Shanghai`. */
    readonly retryAtBeijing?: string
    /** The same in another zone, there in place of `retryAtBeijing`. */
    readonly retryAtLocal?: string
    /** IANA name of the zone. */
    readonly timeZone: string
    /** The same as `resetAt`. */
    readonly retryAt: string
    /** The limit's name for people, in the language of `msg`: `1-Hour`, `1 小时`. */
    readonly windowLabel: string
  }
}

export interface QuotaExceededOptions {
  /** @default 'en' */
  readonly locale?: Locale | undefined
  /** Where people ask for a higher quota. */
  readonly supportForumUrl?: string | undefined
  /** Texts of the application's own, by locale. */
  readonly messages?: MessageTexts | undefined
  /**
   * Zone of the local time that is told, an IANA name.
   * @default 'Asia/Shanghai'
   */
  readonly timeZone?: string | undefined
}

/** What a refused caller is told: the window that binds, how much, until when. */
export function quotaExceededBody(decision: RefusedDecision, options: QuotaExceededOptions = {}): QuotaExceededBody {
  const { binding, retryAfterSeconds } = decision
  const { scope, category, window, limit, used, requested, resetAt } = binding
  const { timeZone = BEIJING_TIME_ZONE, locale = 'en' } = options
  const retryAtLocal = zonedText(resetAt, timeZone)
  return {
    error: 'quota_exceeded',
    msg: refusalMessage(decision, options),
    retryAfterSeconds,
    quota: {
      scope,
      category,
      window,
      limit,
      used,
      requested,
      resetAt: isoText(resetAt),
      ...(timeZone === BEIJING_TIME_ZONE ? { retryAtBeijing: retryAtLocal } : { retryAtLocal }),
      timeZone,
      // Behind what was there before them.
      retryAt: isoText(resetAt),
      windowLabel: windowLabel(binding, locale),
    },
  }
}

/** One limit of a quota status on the wire. */
export interface WindowStatusBody {
  readonly scope: string
  readonly window: string
  readonly limit: Limit
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
  readonly timeZone: string
}

/**
 * A status with instants as ISO text.
 *
 * @param options.timeZone the zone it names, in which refusals tell the time. Default: `Asia/Shanghai`
 */
export function quotaStatusBody(
  status: { readonly windows: Readonly<Record<string, readonly HeldWindowStatus[]>> },
  options: { readonly timeZone?: string | undefined } = {},
): QuotaStatusBody {
  const entries = Object.entries(status.windows).map(
    ([category, windows]) => [category, windows.filter(({ enforced }) => enforced).map(windowBody)] as const,
  )
  return { windows: Object.fromEntries(entries), timeZone: options.timeZone ?? BEIJING_TIME_ZONE }
}

function windowBody(status: HeldWindowStatus): WindowStatusBody {
  const { scope, window, limit, used, remaining, held, startedAt, resetAt } = status
  return {
    scope,
    window,
    limit,
    used,
    remaining,
    ...(held === undefined || held === 0 ? {} : { held }),
    startedAt: startedAt === null ? null : isoText(startedAt),
    resetAt: resetAt === null ? null : isoText(resetAt),
  }
}
