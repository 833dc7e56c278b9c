import * as v from 'valibot'
import { type Check, group, textLike, where } from '../options/checks.ts'
import { expectedText } from '../options/faults.ts'
import { noSuchName } from '../options/names.ts'
import { TOKENS } from '../windows/units.ts'
import type { Limit } from './policy.ts'
import { isLimit, MAX_LIMIT } from './values.ts'

/** What a limit has to be, for messages. */
export function aLimit(unit: string = TOKENS): string {
  return `a whole number of ${unit} from 0 to ${MAX_LIMIT}`
}

export const NAME: RegExp = /^[A-Za-z0-9_-]{1,32}$/
export const A_NAME = '1 to 32 of A-Z a-z 0-9 _ -'
const OPERATION_NAME = /^[A-Za-z0-9_.:-]{1,64}$/

/** The name of a category, a layer, a limit. */
export function nameCheck(): Check<string> {
  return textLike(NAME, A_NAME)
}

/** The fault of an operation's name. */
export function wrongOperation(operation: string): string | undefined {
  const isName = OPERATION_NAME.test(operation)
  return isName ? undefined : expectedText('a name of 1 to 64 of A-Z a-z 0-9 _ . : -', operation)
}

/** The fault of a plan's name. */
export function wrongPlan(plan: string): string | undefined {
  return NAME.test(plan) ? undefined : expectedText(`a plan's name of ${A_NAME}`, plan)
}

/** One of some names of the policy; its error names the one that was probably meant. */
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

/** An object with these keys and the same check for each. */
export function eachKey<T>(keys: readonly string[], check: (key: string) => Check<T>): Check<Record<string, T>> {
  return group(Object.fromEntries(keys.map((key) => [key, check(key)])))
}
