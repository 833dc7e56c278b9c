/**
 * A document as texts, by the paths that the API uses in faults. Texts keep half-typed input, and versions can be
 * compared field by field.
 */
export type Fields = Readonly<Record<string, string>>

export type FaultCode = 'tokens' | 'price' | 'multiplier' | 'customMissing' | 'override' | 'name' | 'qq' | 'credits'
export type Faults = Readonly<Record<string, FaultCode>>

/** The result of parsing a form. */
export interface Read<T> {
  /** `undefined` if there are faults. */
  readonly body: T | undefined
  readonly faults: Faults
}

const MAX_TOKENS = 100_000_000_000

/** `undefined` if the text isn't a valid number of tokens. */
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

/** A comma or a space before every three digits, as tables print numbers. */
const GROUPED = /^[-+]?\d{1,3}([, ])\d{3}(?:\1\d{3})*$/

/** Normalizes a number: `1,200` and `１２００` become `1200`. Wrong groups stay, so `1,20` isn't a number. */
export function bareNumber(text: string): string {
  const narrow = text
    .normalize('NFKC')
    .replaceAll(/[\u2010-\u2013\u2212]/g, '-')
    .trim()
  return GROUPED.test(narrow) ? narrow.replaceAll(/[, ]/g, '') : narrow
}

/** Text fields. Their digits stay as written. */
const WORDS: readonly string[] = ['name']

/** Whether two texts of a field mean the same value. */
export function isSameText(path: string, one: string, other: string): boolean {
  return one === other || (!WORDS.includes(path) && bareNumber(one) === bareNumber(other))
}

/** The paths in which a form differs from another version of it. */
export function changedPaths(before: Fields, after: Fields): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...paths].filter((path) => !isSameText(path, before[path] ?? '', after[path] ?? ''))
}
