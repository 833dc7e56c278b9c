/**
 * A document as a form has it: texts by the paths by which the API names faults. Texts and not values, so that
 * half-typed input has its place, and versions can be compared field by field.
 */
export type Fields = Readonly<Record<string, string>>

/** What a text should have been. */
export type FaultCode =
  | 'tokens'
  | 'price'
  | 'multiplier'
  | 'customMissing'
  | 'override'
  | 'thresholds'
  | 'until'
  | 'name'
  | 'qq'
  | 'url'
export type Faults = Readonly<Record<string, FaultCode>>

/** The result of parsing a form's texts. */
export interface Read<T> {
  /** Absent: there are faults. */
  readonly body: T | undefined
  readonly faults: Faults
}

const MAX_TOKENS = 100_000_000_000

/** Tokens of a text; `undefined` for any other text. */
export function tokensOf(text: string): number | undefined {
  const value = wholeNumber(text)
  return value === undefined || value > MAX_TOKENS ? undefined : value
}

export function multiplierOf(text: string): number | undefined {
  const number = bareNumber(text)
  if (!/^\d(?:\.\d{1,2})?$/.test(number)) return undefined
  const value = Number(number)
  return value >= 0.25 && value <= 4 ? value : undefined
}

export function wholeNumber(text: string): number | undefined {
  const number = bareNumber(text)
  const value = Number(number)
  return /^\d{1,16}$/.test(number) && Number.isSafeInteger(value) ? value : undefined
}

/** A comma or a blank before every three digits, as tables print numbers. */
const GROUPED = /^[-+]?\d{1,3}([, ])\d{3}(?:\1\d{3})*$/

/**
 * A number as programs write it, of one as people do: `1,200` and `１２００` are 1200. Groups that are none stay, so that
 * `1,20` is no number.
 */
export function bareNumber(text: string): string {
  const narrow = text
    .normalize('NFKC')
    .replaceAll(/[\u2010-\u2013\u2212]/g, '-')
    .trim()
  return GROUPED.test(narrow) ? narrow.replaceAll(/[, ]/g, '') : narrow
}

/** Fields of words: digits in them stay as they are written. */
const WORDS: readonly string[] = ['name']

/** Whether two texts of a field have the same value. */
export function isSameText(path: string, one: string, other: string): boolean {
  return one === other || (!WORDS.includes(path) && bareNumber(one) === bareNumber(other))
}
