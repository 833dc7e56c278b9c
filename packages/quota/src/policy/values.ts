import { hundredths, MAX_LIMIT } from './limits.ts'
import type { Limit } from './policy.ts'

/** Limits of a shared layer's multiplier. */
export const MIN_MULTIPLIER = 0.25
export const MAX_MULTIPLIER = 4

/** Whether a value can be a base limit, an override or a custom limit. */
export function isLimit(value: unknown): value is Limit {
  return value === 'unlimited' || (isPrice(value) && value <= MAX_LIMIT)
}

/** Whether a value can be a price: a whole number of tokens, 0 or more. */
export function isPrice(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Whether a value can be the multiplier of a shared layer: from 0.25 to 4, with at most two decimals. */
export function isMultiplier(value: unknown): value is number {
  return (
    typeof value === 'number' && value >= MIN_MULTIPLIER && value <= MAX_MULTIPLIER && hundredths(value) !== undefined
  )
}
