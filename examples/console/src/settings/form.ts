/**
 * A document as a form has it: texts by the paths by which the API names faults. Texts and not values, so that what is
 * half typed has its place, and so that versions can be held against each other field by field.
 */
export type Fields = Readonly<Record<string, string>>

/** What a text should have been. */
export type FaultCode = 'tokens' | 'price' | 'multiplier' | 'customMissing' | 'override' | 'thresholds' | 'until'
export type Faults = Readonly<Record<string, FaultCode>>

/** What a form's texts come to. */
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
  if (!/^\d(?:\.\d{1,2})?$/.test(text.trim())) return undefined
  const value = Number(text)
  return value >= 0.25 && value <= 4 ? value : undefined
}

export function wholeNumber(text: string): number | undefined {
  const value = Number(text.trim())
  return /^\d{1,16}$/.test(text.trim()) && Number.isSafeInteger(value) ? value : undefined
}
