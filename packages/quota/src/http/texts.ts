import type { LimitKind, RefusedDecision } from '../decision/decision.ts'
import type { Policy } from '../policy/policy.ts'
import type { MoneyFormat } from '../policy/units.ts'
import { zonedText } from '../time/zoned.ts'

/** Languages of responses. */
export const LOCALES = ['en', 'zh-CN'] as const
export type Locale = (typeof LOCALES)[number]

/** The input of your own texts. */
export interface MessageFacts {
  readonly decision: RefusedDecision
  /** The text that yours replaces. */
  readonly text: string
}

/** Your texts in one language. Those that you omit keep their default. */
export interface AnswerTexts {
  /** The text of a 429. */
  readonly exceeded?: ((facts: MessageFacts) => string) | undefined
  /** The text of a 401. */
  readonly unauthorized?: string | undefined
  /** The text of a 503. */
  readonly unavailable?: string | undefined
}

/** Your own texts, by locale. A function is the text of a 429. */
export type MessageTexts = Readonly<Partial<Record<Locale, ((facts: MessageFacts) => string) | AnswerTexts>>>

/** Returns the application's text of a response, if it has one. */
export function ownText<Kind extends keyof AnswerTexts>(
  kind: Kind,
  locale: Locale,
  messages: MessageTexts | undefined,
): AnswerTexts[Kind] {
  const own = messages?.[locale]
  const texts: AnswerTexts | undefined = typeof own === 'function' ? { exceeded: own } : own
  return texts?.[kind]
}

const TEXTS: Readonly<Record<Locale, Readonly<Record<'unauthorized' | 'unavailable', string>>>> = {
  en: {
    unauthorized: 'Authentication required.',
    unavailable: 'The quota service is not available right now. Please try again soon.',
  },
  'zh-CN': { unauthorized: '需要身份验证。', unavailable: '配额服务暂时不可用，请稍后重试。' },
}

/** Returns the text of a 401 or 503 for people. */
export function answerText(
  kind: 'unauthorized' | 'unavailable',
  locale: Locale,
  messages: MessageTexts | undefined,
): string {
  return ownText(kind, locale, messages) ?? TEXTS[locale][kind]
}

/** The body of a 429. */
export interface QuotaExceededBody {
  readonly error: 'quota_exceeded'
  /** Text for people: which limit is reached, and when to try again. */
  readonly msg: string
  /** Whole seconds to wait, at least 1; `null` if waiting doesn't help. */
  readonly retryAfterSeconds: number | null
  /** Whether waiting helps. The score gateway's specification has no such member. */
  readonly retryable?: boolean
  /** The limit that refuses. */
  readonly quota: {
    /** The limit's name. */
    readonly name?: string
    /** Its name for people, else who shares it, for example `team`. */
    readonly title?: string
    /** Only in the score gateway's bodies, like `category` and `window`: its title. */
    readonly scope?: string
    readonly category?: string
    readonly window?: string
    readonly unit?: string
    /** In the limit's unit, else in tokens; for concurrency, in slots. So are `used` and `requested`. */
    readonly limit: number
    /** The most tokens that a bucket can hold. Present for buckets. */
    readonly burst?: number
    readonly used: number
    readonly requested: number
    /** ISO 8601 UTC with milliseconds. */
    readonly resetAt: string
  }
}

/** The context of a refusal's body, apart from the decision. */
export interface AnswerContext {
  readonly locale: Locale
  /** The policy that decided; `undefined` if unknown. */
  readonly policy: Policy | undefined
}

/** Builds the body of a 429: `neutralAnswers()`, `scoreGatewayAnswers()`, or your own function. */
export interface QuotaAnswers {
  (decision: RefusedDecision, context: AnswerContext): QuotaExceededBody
  /**
   * Whether `Retry-After` is sent even if waiting doesn't help. Its specification may want one with every 429.
   *
   * @default false
   */
  readonly alwaysRetryAfter?: boolean | undefined
}

/** How much a client prefers a language. A range that names the language takes precedence over `*`. */
interface Preference {
  readonly named: boolean
  readonly quality: number
  /** Position in the header field. Earlier wins between equals. */
  readonly place: number
}

/** The language of each locale, as `Accept-Language` names it. */
const LANGUAGES: Readonly<Record<Locale, string>> = { en: 'en', 'zh-CN': 'zh' }

/**
 * Returns the best supported language for an `Accept-Language`. Any Chinese is Simplified Chinese; the default is
 * English.
 */
export function preferredLocale(acceptLanguage: string | undefined): Locale {
  if (acceptLanguage === undefined || acceptLanguage === '') return 'en'
  const ranges = acceptLanguage.split(',').map((range, place) => {
    const [tag = '', ...parameters] = range.split(';')
    const language = (tag.split('-')[0] ?? '').trim().toLowerCase()
    return { language, named: language !== '*', quality: qualityOf(parameters), place }
  })
  let best: Locale = 'en'
  let preferred: Preference | undefined
  for (const locale of LOCALES) {
    const meant = ranges.filter(({ language, named }) => !named || language === LANGUAGES[locale])
    const preference = meant.reduce<Preference | undefined>(closer, undefined)
    if (!isBetter(preference, preferred)) continue
    best = locale
    preferred = preference
  }
  return best
}

function qualityOf(parameters: readonly string[]): number {
  const given = parameters.map((each) => /^\s*q=([\d.]+)\s*$/i.exec(each)?.[1]).find((each) => each !== undefined)
  const quality = given === undefined ? 1 : Number(given)
  return quality >= 0 && quality <= 1 ? quality : 0
}

/** The more specific of two preferences for a language. */
function closer(known: Preference | undefined, next: Preference): Preference {
  if (known === undefined || (next.named && !known.named)) return next
  return next.named === known.named && next.quality > known.quality ? next : known
}

function isBetter(a: Preference | undefined, b: Preference | undefined): boolean {
  if (a === undefined || a.quality === 0) return false
  if (b === undefined || b.quality !== a.quality) return b === undefined || a.quality > b.quality
  return a.place < b.place
}

/** The facts that the text of a refusal needs. */
export interface RefusalFacts {
  readonly kind: LimitKind
  /** The limit's name. */
  readonly name: string
  /** `null` for concurrency. */
  readonly lengthMs: number | null
  readonly limit: number
  /** Present for a bucket whose limit isn't 0. */
  readonly burst: number | undefined
  readonly requested: number
  /** The subject's settings block it. */
  readonly isBlocked: boolean
  readonly retryable: boolean
  readonly retryAfterSeconds: number
  /** Epoch milliseconds. */
  readonly resetAt: number
  /** Whose limit it is: the caller's, the whole service's, or that of another layer such as the caller's team. */
  readonly owner: 'caller' | 'service' | { readonly name: string }
  /** `undefined` if the policy has only one. */
  readonly category: string | undefined
  /** The counted unit in the plural: `requests`, `tokens`. */
  readonly unit: string
  /** Present for amounts of money. */
  readonly format?: MoneyFormat | undefined
  /** IANA time zone in which to state when a calendar window ends. */
  readonly timeZone: string
}

/** A length as a number of its largest whole unit. */
export interface Length {
  readonly count: number
  readonly unit: LengthUnit
}

export type LengthUnit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year'

const UNIT_MS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** A window's length for people: the length of a rolling window, the period of a calendar window. */
export function lengthOf({ kind, lengthMs }: RefusalFacts): Length {
  const ms = lengthMs ?? 0
  if (kind === 'calendar') return { count: 1, unit: periodOf(ms / 86_400_000) }
  const [unit, unitMs] = UNIT_MS.find(([, each]) => ms % each === 0) ?? (['second', 1_000] as const)
  return { count: ms / unitMs, unit }
}

/** Periods vary with summer time and the month's length, but never by enough to be confused. */
function periodOf(days: number): LengthUnit {
  if (days > 300) return 'year'
  if (days > 20) return 'month'
  if (days > 4) return 'week'
  return days > 0.5 ? 'day' : 'hour'
}

/** A wait for people, rounded up: seconds, minutes, hours and minutes, or days and hours. */
export function waitOf(seconds: number): readonly Length[] {
  if (seconds < 60) return [{ count: seconds, unit: 'second' }]
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return [{ count: minutes, unit: 'minute' }]
  if (minutes < 24 * 60) return both(minutes, 60, ['hour', 'minute'])
  return both(Math.ceil(minutes / 60), 24, ['day', 'hour'])
}

function both(count: number, each: number, [larger, smaller]: readonly [LengthUnit, LengthUnit]): readonly Length[] {
  const whole = { count: Math.floor(count / each), unit: larger }
  return count % each === 0 ? [whole] : [whole, { count: count % each, unit: smaller }]
}

const NUMBERS = /* @__PURE__ */ new Intl.NumberFormat('en-US')

/** A number with groups of three digits, for both languages. */
export function numberText(count: number): string {
  // Formatting takes longer than the rest of a text, and most limits need no groups.
  return Number.isInteger(count) && count >= 0 && count < 1_000 ? String(count) : NUMBERS.format(count)
}

/** An amount of money, such as `$50.00` or `50.00 美元`. It has at least two decimals if the currency's scale allows. */
export function moneyText(amount: number, { currency, scale }: MoneyFormat, locale: 'en-US' | 'zh-CN'): string {
  const display = locale === 'en-US' ? 'symbol' : 'name'
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    currencyDisplay: display,
    minimumFractionDigits: Math.min(2, scale),
    maximumFractionDigits: scale,
  })
  // All our texts have a space between a number and a Chinese word.
  return format.format(amount / 10 ** scale).replace(/(\d)(\p{Script=Han})/u, '$1 $2')
}

/** Year, month, day and time of day, rounded up to the minute. */
export function wholeMinute(instant: number, timeZone: string): readonly string[] {
  return zonedText(Math.ceil(instant / 60_000) * 60_000, timeZone)
    .slice(0, -':00'.length)
    .split(/[- ]/)
}
