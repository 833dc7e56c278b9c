import type { RefusedDecision } from '../decision/decision.ts'
import type { Policy } from '../policy/policy.ts'

/** Languages that answers come in. */
export const LOCALES = ['en', 'zh-CN'] as const
export type Locale = (typeof LOCALES)[number]

/** What a text of the application's own is made from. */
export interface MessageFacts {
  readonly decision: RefusedDecision
  /** The text that it replaces. */
  readonly text: string
}

/** The texts of one language; those left out are ours. */
export interface AnswerTexts {
  /** Of a 429. */
  readonly exceeded?: ((facts: MessageFacts) => string) | undefined
  /** Of a 401. */
  readonly unauthorized?: string | undefined
  /** Of a 503. */
  readonly unavailable?: string | undefined
}

/** Texts of an application's own, by locale: that of a 429, or several. */
export type MessageTexts = Readonly<Partial<Record<Locale, ((facts: MessageFacts) => string) | AnswerTexts>>>

/** The application's text of an answer, where it has one. */
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

/** The text of a 401 or a 503 for people. */
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
    /** How many tokens a bucket can save up; there of buckets. */
    readonly burst?: number
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

/** How much a client prefers a language: higher quality is better, and a language's own name counts before `*`. */
interface Preference {
  readonly named: boolean
  readonly quality: number
  /** Place in the header field; earlier is better among equals. */
  readonly place: number
}

/** The best of our languages by `Accept-Language`: any Chinese is Simplified Chinese, all else is English. */
export function preferredLocale(acceptLanguage: string | undefined): Locale {
  if (acceptLanguage === undefined || acceptLanguage === '') return 'en'
  let english: Preference | undefined
  let chinese: Preference | undefined
  for (const [place, range] of acceptLanguage.split(',').entries()) {
    const [tag = '', ...parameters] = range.split(';')
    const language = (tag.split('-')[0] ?? '').trim().toLowerCase()
    const preference = { named: language !== '*', quality: qualityOf(parameters), place }
    if (language === 'en' || language === '*') english = closer(english, preference)
    if (language === 'zh' || language === '*') chinese = closer(chinese, preference)
  }
  return isBetter(chinese, english) ? 'zh-CN' : 'en'
}

function qualityOf(parameters: readonly string[]): number {
  const given = parameters.map((each) => /^\s*q=([\d.]+)\s*$/i.exec(each)?.[1]).find((each) => each !== undefined)
  const quality = given === undefined ? 1 : Number(given)
  return quality >= 0 && quality <= 1 ? quality : 0
}

/** The more specific of two preferences for one language. */
function closer(known: Preference | undefined, next: Preference): Preference {
  if (known === undefined || (next.named && !known.named)) return next
  return next.named === known.named && next.quality > known.quality ? next : known
}

function isBetter(a: Preference | undefined, b: Preference | undefined): boolean {
  if (a === undefined || a.quality === 0) return false
  if (b === undefined || b.quality !== a.quality) return b === undefined || a.quality > b.quality
  return a.place < b.place
}
