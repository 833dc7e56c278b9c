import type { Limit } from './policy.ts'

/** Largest base limit, override or custom limit, in tokens. With it `base * 150 * 400` stays a safe integer. */
export const MAX_LIMIT: number = 10 ** 11

/** Limits of a shared layer's multiplier. */
export const MIN_MULTIPLIER = 0.25
export const MAX_MULTIPLIER = 4

/** Whether a value can be a base limit, an override or a custom limit. */
export function isLimit(value: unknown): value is Limit {
  return value === 'unlimited' || (isPrice(value) && value <= MAX_LIMIT)
}

/** Whether a value can be a price: a whole number of tokens, 0 or more. */
function isPrice(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Whether a value can be the multiplier of a shared layer: from 0.25 to 4, with at most two decimals. */
export function isMultiplier(value: unknown): value is number {
  return (
    typeof value === 'number' && value >= MIN_MULTIPLIER && value <= MAX_MULTIPLIER && hundredths(value) !== undefined
  )
}

/** A factor with at most two decimals as whole hundredths, or `undefined` where it has more. */
export function hundredths(factor: number): number | undefined {
  const whole = Math.round(factor * 100)
  return whole / 100 === factor ? whole : undefined
}

/** A record's own member: names may be such as every object has. */
export function ownOf<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined
}

/** Whether a value can be an instant: epoch milliseconds that a date can show. */
export function isInstant(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 8.64e15
}
