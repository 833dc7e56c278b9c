import * as v from 'valibot'
import { type Check, group, textLike, where } from '../options/checks.ts'
import { expectedText, noSuchName } from '../options/faults.ts'
import { TOKENS } from '../windows/units.ts'
import type { Limit } from './policy.ts'

/** The largest base limit, override or custom limit, in tokens. It keeps `base * 150 * 400` a safe integer. */
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

/** Whether a value can be a shared layer's multiplier: from 0.25 to 4, with at most two decimals. */
export function isMultiplier(value: unknown): value is number {
  return (
    typeof value === 'number' && value >= MIN_MULTIPLIER && value <= MAX_MULTIPLIER && hundredths(value) !== undefined
  )
}

/** Converts a factor to hundredths; `undefined` if it has more than two decimals. */
export function hundredths(factor: number): number | undefined {
  const whole = Math.round(factor * 100)
  return whole / 100 === factor ? whole : undefined
}

/** Returns a record's own member, because names may equal those of inherited properties. */
export function ownOf<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined
}

/** Whether a value can be an instant: epoch milliseconds in the range of `Date`. */
export function isInstant(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 8.64e15
}

/** Describes a valid limit, for messages. */
export function aLimit(unit: string = TOKENS): string {
  return `a whole number of ${unit} from 0 to ${MAX_LIMIT}`
}

export const NAME: RegExp = /^[A-Za-z0-9_-]{1,32}$/
export const A_NAME = '1 to 32 of A-Z a-z 0-9 _ -'
const OPERATION_NAME = /^[A-Za-z0-9_.:-]{1,64}$/

/** Checks the name of a category, layer or limit. */
export function nameCheck(): Check<string> {
  return textLike(NAME, A_NAME)
}

/** Returns the fault of an operation's name. */
export function wrongOperation(operation: string): string | undefined {
  const isName = OPERATION_NAME.test(operation)
  return isName ? undefined : expectedText('a name of 1 to 64 of A-Z a-z 0-9 _ . : -', operation)
}

/** Returns the fault of a plan's name. */
export function wrongPlan(plan: string): string | undefined {
  return NAME.test(plan) ? undefined : expectedText(`a plan's name of ${A_NAME}`, plan)
}

/** Checks that a value is one of the policy's names. The error suggests the closest one. */
export function nameOf(what: string, names: readonly string[], have = 'the policy has'): Check<string> {
  return v.custom<string>(
    (value) => names.includes(value as string),
    ({ input }) =>
      typeof input === 'string' ? `not ${what}: ${noSuchName(input, names, have)}` : expectedText(what, input),
  )
}

export function limitCheck(unit: string): Check<Limit> {
  return where<Limit>(isLimit, `${aLimit(unit)}, or "unlimited"`)
}

/** An object with these keys and the same check for each value. */
export function eachKey<T>(keys: readonly string[], check: (key: string) => Check<T>): Check<Record<string, T>> {
  return group(Object.fromEntries(keys.map((key) => [key, check(key)])))
}
