import type { QuotaAnswers, QuotaExceededBody } from '../http/texts.ts'
import { anAddress, optional, where, withDefault } from '../options/checks.ts'
import { optionsParser } from '../options/options-parser.ts'
import { isoText, isTimeZone, zonedText } from '../time/zoned.ts'
import { BEIJING_TIME_ZONE, specifiedText, windowLabel } from './texts.ts'

/** The body of a 429 as the score gateway's specification has it. */
export interface ScoreGatewayBody extends QuotaExceededBody {
  /** The limit that binds. */
  readonly quota: QuotaExceededBody['quota'] & {
    /** The layer, for example `Personal`. */
    readonly scope: string
    readonly category: string
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

export interface ScoreGatewayAnswersOptions {
  /** Where people ask for a higher quota. */
  readonly supportForumUrl?: string | undefined
  /**
   * Zone in which the time is named, an IANA name.
   * @default 'Asia/Shanghai'
   */
  readonly timeZone?: string | undefined
}

/** Makes the specification's body of a 429. */
export type ScoreGatewayAnswers = (...args: Parameters<QuotaAnswers>) => ScoreGatewayBody

interface ParsedOptions extends ScoreGatewayAnswersOptions {
  readonly timeZone: string
}

const parse = /* @__PURE__ */ optionsParser<ParsedOptions>('scoreGatewayAnswers()', () => ({
  supportForumUrl: optional(anAddress()),
  timeZone: withDefault(
    where((value) => typeof value === 'string' && isTimeZone(value), 'a time zone, for example Europe/Berlin'),
    BEIJING_TIME_ZONE,
  ),
}))

/**
 * Answers of the score gateway's specification: scope, window and category, local time in Beijing, and a support forum.
 * `defaultPolicy()` carries them.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const policy = { ...defaultPolicy(), answers: scoreGatewayAnswers({ supportForumUrl: 'https://forum.example.com' }) }
 */
export function scoreGatewayAnswers(options: ScoreGatewayAnswersOptions = {}): ScoreGatewayAnswers {
  const { supportForumUrl, timeZone } = parse(options)
  return (decision, { locale }) => {
    const { binding, retryAfterSeconds } = decision
    const { scope, category, window, limit, used, requested, resetAt } = binding
    const retryAtLocal = zonedText(resetAt, timeZone)
    return {
      error: 'quota_exceeded',
      msg: specifiedText({ decision, timeZone, supportForumUrl }, locale),
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
}
