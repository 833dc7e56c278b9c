import type { RefusedDecision } from '../decision/decision.ts'
import { beijingText } from '../time/beijing.ts'

/** Languages that refusals come in. */
export const LOCALES = ['en', 'zh-CN'] as const
export type Locale = (typeof LOCALES)[number]

/** What a text is made from. */
export interface MessageFacts {
  readonly decision: RefusedDecision
  /** When to go on, `yyyy-MM-dd HH:mm:ss` in Beijing time. */
  readonly retryAtBeijing: string
  /** Where people ask for a higher quota; `undefined` when the application named no place. */
  readonly supportForumUrl: string | undefined
}

/** Texts of an application's own, by locale. */
export type MessageTexts = Readonly<Partial<Record<Locale, (facts: MessageFacts) => string>>>

const TEXTS: Readonly<Record<Locale, (facts: MessageFacts) => string>> = { en: english, 'zh-CN': chinese }

/** The text of a refusal for people. */
export function refusalMessage(
  decision: RefusedDecision,
  options: {
    readonly locale?: Locale | undefined
    readonly supportForumUrl?: string | undefined
    readonly messages?: MessageTexts | undefined
  } = {},
): string {
  const { locale = 'en', supportForumUrl, messages } = options
  const text = messages?.[locale] ?? TEXTS[locale]
  return text({ decision, supportForumUrl, retryAtBeijing: beijingText(decision.resetAt) })
}

function english({ decision, retryAtBeijing, supportForumUrl }: MessageFacts): string {
  const { scope, category, lengthMs, limit, requested } = decision.binding
  const what = `${scope} ${lengthText(lengthMs, '-', ENGLISH_UNITS)} Quota Limit`
  const requests = `${capitalized(category)} requests`
  const ask = `For a higher quota, ask at ${supportForumUrl ?? 'the support forum'}.`
  if (!decision.retryable) {
    return `This request needs ${requested} tokens, more than the ${what} of ${limit} for ${requests}: waiting will not help. ${ask}`
  }
  return `Reached ${what} for ${requests}. You may continue after ${retryAtBeijing} Beijing Time (UTC+8). ${ask}`
}

function chinese({ decision, retryAtBeijing, supportForumUrl }: MessageFacts): string {
  const { scope, category, lengthMs, limit, requested } = decision.binding
  const what = `${CHINESE[scope] ?? scope} ${lengthText(lengthMs, ' ', CHINESE_UNITS)}${CHINESE[category] ?? ` ${category} `}配额上限`
  const ask = `如需更高配额，请前往${supportForumUrl === undefined ? '支持论坛' : ` ${supportForumUrl} `}申请。`
  if (!decision.retryable) return `本次请求需要 ${requested} 个令牌，超过${what}（${limit}），等待无法解决。${ask}`
  return `已达到${what}。您可以在北京时间（UTC+8）${retryAtBeijing} 之后继续请求。${ask}`
}

const CHINESE: Readonly<Record<string, string>> = { Personal: '个人', Site: '全站', read: '读取', write: '写入' }

/** Names of a day, an hour, a minute and a second. */
type Units = readonly [string, string, string, string]
const ENGLISH_UNITS: Units = ['Day', 'Hour', 'Minute', 'Second']
const CHINESE_UNITS: Units = ['天', '小时', '分钟', '秒']
const UNIT_MS = [86_400_000, 3_600_000, 60_000, 1_000] as const

/** A length in the largest unit that divides it, for example `1-Hour`. */
function lengthText(lengthMs: number, separator: string, units: Units): string {
  const index = UNIT_MS.findIndex((unitMs) => lengthMs % unitMs === 0)
  const unit = index === -1 ? UNIT_MS.length - 1 : index
  return `${lengthMs / UNIT_MS[unit]!}${separator}${units[unit]!}`
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
