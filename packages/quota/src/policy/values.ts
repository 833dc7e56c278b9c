import * as v from 'valibot'
import { type Check, group, textLike, where } from '../options/checks.ts'
import { expectedText, noSuchName } from '../options/faults.ts'
import { TOKENS } from '../windows/units.ts'
import type { Limit } from './policy.ts'

/** The largest number of a limit. */
export const MAX_LIMIT: number = 10 ** 15

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

/** Names of limits, operations, categories, plans and units. Not that of an object's prototype. */
export const NAME: RegExp = /^(?!__proto__$)[A-Za-z0-9._:/-]{1,64}$/
export const A_NAME = '1 to 64 letters, digits and . _ : / -'
/** Names of layers. Stores use `:` between parts of a key. */
const LAYER_NAME = /^(?!__proto__$)[A-Za-z0-9._/-]{1,64}$/

/** Checks the name of a category. */
export function nameCheck(): Check<string> {
  return textLike(NAME, `a name of ${A_NAME}`)
}

/** Checks the name of a layer. @param what for messages */
export function layerNameCheck(what: string): Check<string> {
  return textLike(LAYER_NAME, `${what}: 1 to 64 letters, digits and . _ / -`)
}

/** Returns the fault of a name. @param what for messages, such as `an operation's name` */
export function wrongName(name: string, what: string): string | undefined {
  return NAME.test(name) ? undefined : expectedText(`${what} of ${A_NAME}`, name)
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
