import type { LimitKind } from '../../decision/decision.ts'
import type { MoneyFormat } from '../../policy/units.ts'
import { zonedText } from '../../time/zoned.ts'

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
