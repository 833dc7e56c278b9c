import type { RefusedDecision } from '../decision/decision.ts'

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
