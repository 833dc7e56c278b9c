import { retryAfterSeconds } from '../decision/decide.ts'
import type { Refusal, RefusedDecision } from '../decision/decision.ts'
import type { Locale, QuotaAnswers, QuotaExceededBody } from '../http/texts.ts'
import { anAddress, optional, where, withDefault } from '../options/checks.ts'
import { optionsParser } from '../options/options-parser.ts'
import { isoText, isTimeZone, zonedText } from '../time/zoned.ts'

/** The body of a 429, as specified for the score gateway. */
export interface ScoreGatewayBody extends QuotaExceededBody {
  readonly retryAfterSeconds: number
  /** The limit that refuses. */
  readonly quota: QuotaExceededBody['quota'] & {
    /** The layer, for example `Personal`. */
    readonly scope: string
    readonly category: string
    /** `yyyy-MM-dd HH:mm:ss`, rounded up from `resetAt`. Present in the default zone, `Asia/Shanghai`. */
    readonly retryAtBeijing?: string
    /** The same in another zone. Present instead of `retryAtBeijing`. */
    readonly retryAtLocal?: string
    /** The IANA time zone. */
    readonly timeZone: string
    /** The same as `resetAt`. */
    readonly retryAt: string
    /** The limit's name for people, in the language of `msg`: `1-Hour`, `1 小时`. */
    readonly windowLabel: string
  }
}

export interface ScoreGatewayAnswersOptions {
  /** Where people can request a higher quota. */
  readonly supportForumUrl?: string | undefined
  /**
   * The IANA time zone for times in messages.
   *
   * @default 'Asia/Shanghai'
   */
  readonly timeZone?: string | undefined
}

/** Builds the specified body of a 429. */
export interface ScoreGatewayAnswers {
  (...args: Parameters<QuotaAnswers>): ScoreGatewayBody
  /** The specification has a `Retry-After` with every 429. */
  readonly alwaysRetryAfter: true
}

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
 * `scoreGatewayPolicy()` carries them.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const policy = { ...scoreGatewayPolicy(), answers: scoreGatewayAnswers({ supportForumUrl: 'https://forum.example.com' }) }
 */
export function scoreGatewayAnswers(options: ScoreGatewayAnswersOptions = {}): ScoreGatewayAnswers {
  const { supportForumUrl, timeZone } = parse(options)
  const bodyOf = (decision: RefusedDecision, { locale, policy }: Parameters<QuotaAnswers>[1]): ScoreGatewayBody => {
    const { refusedBy, now } = decision
    const { title: scope, limit, burst, used, requested, resetAt } = refusedBy
    const category = policy?.operations[decision.operation]?.category ?? decision.operation
    const retryAtLocal = zonedText(resetAt, timeZone)
    return {
      error: 'quota_exceeded',
      msg: specifiedText({ decision, category, timeZone, supportForumUrl }, locale),
      retryAfterSeconds: retryAfterSeconds(resetAt, now),
      quota: {
        scope,
        category,
        window: shortText(refusedBy),
        limit,
        used,
        requested,
        resetAt: isoText(resetAt),
        ...(timeZone === BEIJING_TIME_ZONE ? { retryAtBeijing: retryAtLocal } : { retryAtLocal }),
        timeZone,
        // The specification fixes the order of members. Later ones come last.
        retryAt: isoText(resetAt),
        windowLabel: windowLabel(refusedBy, locale),
        ...(burst === undefined ? {} : { burst }),
      },
    }
  }
  return Object.assign(bodyOf, { alwaysRetryAfter: true } as const)
}

/** The input of a message. */
interface TextFacts {
  readonly decision: RefusedDecision
  readonly category: string
  /** The IANA time zone for times in messages. */
  readonly timeZone: string
  readonly supportForumUrl: string | undefined
}

const TEXTS: Readonly<Record<Locale, (facts: TextFacts) => string>> = { en: english, 'zh-CN': chinese }

/** The specified message of a refusal. */
function specifiedText(facts: TextFacts, locale: Locale): string {
  return TEXTS[locale](facts)
}

function english({ decision, category, timeZone, supportForumUrl }: TextFacts): string {
  const retryAt = zonedText(decision.resetAt, timeZone)
  const { title: scope, kind, limit, burst, requested } = decision.refusedBy
  const requests = `${capitalized(category)} requests`
  const when = `${retryAt} ${timeZone === BEIJING_TIME_ZONE ? 'Beijing Time (UTC+8)' : `(${timeZone})`}`
  const contact = `For a higher quota, ask at ${supportForumUrl ?? 'the support forum'}.`
  if (kind === 'concurrency') {
    const most = `${scope} Limit of ${limit} ${requests} at once`
    if (!decision.retryable) return `This request is above the ${most}: waiting will not help. ${contact}`
    return `Reached ${most}. You may continue when one of them has ended. ${contact}`
  }
  const what = `${scope} ${windowText(decision.refusedBy, '-', ENGLISH_UNITS)} Quota Limit`
  if (!decision.retryable) {
    const most = burst === undefined ? limit : `${burst} in a burst`
    return `This request needs ${requested} tokens, more than the ${what} of ${most} for ${requests}: waiting will not help. ${contact}`
  }
  const bursts = burst === undefined ? '' : ` (${limit}, in bursts of ${burst})`
  return `Reached ${what}${bursts} for ${requests}. You may continue after ${when}. ${contact}`
}

function chinese({ decision, category, timeZone, supportForumUrl }: TextFacts): string {
  const retryAt = zonedText(decision.resetAt, timeZone)
  const { title: scope, kind, limit, burst, requested } = decision.refusedBy
  const whose = CHINESE[scope] ?? scope
  const requests = CHINESE[category] ?? ` ${category} `
  const contact = `如需更高配额，请前往${supportForumUrl === undefined ? '支持论坛' : ` ${supportForumUrl} `}申请。`
  const when = timeZone === BEIJING_TIME_ZONE ? `北京时间（UTC+8）${retryAt} ` : ` ${retryAt}（${timeZone}）`
  if (kind === 'concurrency') {
    const most = `${whose}同时进行的${requests}请求数上限（${limit}）`
    return decision.retryable
      ? `已达到${most}。其中一个结束后即可继续请求。${contact}`
      : `本次请求超过${most}，等待无法解决。${contact}`
  }
  const what = `${whose} ${windowText(decision.refusedBy, ' ', CHINESE_UNITS)}${requests}配额上限`
  if (!decision.retryable) {
    const most = burst === undefined ? limit : `单次突发 ${burst}`
    return `本次请求需要 ${requested} 个令牌，超过${what}（${most}），等待无法解决。${contact}`
  }
  const bursts = burst === undefined ? '' : `（${limit}，突发最多 ${burst}）`
  return `已达到${what}${bursts}。您可以在${when}之后继续请求。${contact}`
}

const CHINESE: Readonly<Record<string, string>> = {
  Personal: '个人',
  Site: '全站',
  read: '读取',
  write: '写入',
  all: '全部',
  hour: '每小时',
  day: '每日',
  week: '每周',
  month: '每月',
  year: '每年',
}

/** Names of a day, an hour, a minute and a second. */
type Units = readonly [string, string, string, string]
const ENGLISH_UNITS: Units = ['Day', 'Hour', 'Minute', 'Second']
const CHINESE_UNITS: Units = ['天', '小时', '分钟', '秒']
const SHORT_UNITS: Units = ['d', 'h', 'm', 's']
const UNIT_MS = [86_400_000, 3_600_000, 60_000, 1_000] as const

/** A limit's name for people, for example `1-Hour` or `1 小时`. */
export function windowLabel(refusal: Refusal, locale: Locale): string {
  const text = locale === 'en' ? windowText(refusal, '-', ENGLISH_UNITS) : windowText(refusal, ' ', CHINESE_UNITS)
  return text.trim()
}

/** The length of a rolling window or bucket, such as `1h`, otherwise the limit's name. */
function shortText({ kind, name, lengthMs }: Refusal): string {
  return (kind === 'rolling' || kind === 'bucket') && lengthMs !== null ? lengthText(lengthMs, '', SHORT_UNITS) : name
}

/** The length of a rolling window or bucket, otherwise the label: calendar periods vary in length. */
function windowText({ kind, name, lengthMs }: Refusal, separator: string, units: Units): string {
  if ((kind === 'rolling' || kind === 'bucket') && lengthMs !== null) return lengthText(lengthMs, separator, units)
  return units === ENGLISH_UNITS ? capitalized(name) : (CHINESE[name] ?? `${name} `)
}

/** A length in the largest unit that divides it, for example `1-Hour`. */
function lengthText(lengthMs: number, separator: string, units: Units): string {
  const index = UNIT_MS.findIndex((unitMs) => lengthMs % unitMs === 0)
  const unit = index === -1 ? UNIT_MS.length - 1 : index
  return `${lengthMs / UNIT_MS[unit]!}${separator}${units[unit]!}`
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** The IANA time zone that the specification prescribes for refusals. */
export const BEIJING_TIME_ZONE = 'Asia/Shanghai'

/**
 * Formats an instant as Beijing time, `yyyy-MM-dd HH:mm:ss`. Rounds up to the second, so the text is never earlier than
 * the instant.
 *
 * @param instant epoch milliseconds
 */
export function beijingText(instant: number): string {
  return zonedText(instant, BEIJING_TIME_ZONE)
}
