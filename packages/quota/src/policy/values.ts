import * as v from 'valibot'
import type { Fault } from '../errors/quota-error.ts'
import { plain } from '../errors/shown.ts'
import { type Check, group, isObject, textLike, where } from '../options/checks.ts'
import { expectedText, noSuchName } from '../options/faults.ts'
import { TOKENS } from '../windows/identity.ts'
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

/** The most faults reported per document. */
const MAX_FAULTS = 100

/** A stored document as a policy can use it, and its faults. */
export interface Fitted<T> {
  readonly settings: T
  readonly faults: readonly Fault[]
}

/** A part of a stored document: its value, where it is, and the list for its faults. */
export class Part {
  readonly value: unknown
  readonly faults: Fault[]
  readonly #path: string

  constructor(value: unknown, path = '', faults: Fault[] = []) {
    this.value = value
    this.#path = path
    this.faults = faults
  }

  /** Returns a member, whether or not it is there. */
  of(name: string): Part {
    return this.at(name, member(this.value, name))
  }

  /** Returns a part with another value at the place of a member. */
  at(name: string, value: unknown): Part {
    return new Part(value, this.#path === '' ? name : `${this.#path}.${name}`, this.faults)
  }

  /** Reports a fault, up to a limit. */
  wrong(message: string): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push({ path: this.#path, message })
  }

  /** Reports names that the policy does not have. */
  noteUnknown(known: readonly string[]): void {
    if (this.value !== undefined && !isObject(this.value)) {
      this.wrong('expected an object: not in force')
      return
    }
    for (const [name] of membersOf(this.value)) {
      if (!known.includes(name)) this.at(plain(name), undefined).wrong('not in the policy: kept, not in force')
    }
  }

  /** Returns what `read` makes of the value; `null` if it is missing, or wrong, which is reported. */
  orNull<T>(read: (value: unknown) => T | undefined, wrong: string): T | null {
    if (this.value === undefined || this.value === null) return null
    const right = read(this.value)
    if (right === undefined) this.wrong(wrong)
    return right ?? null
  }
}

/**
 * Removes former names of limits from an object by limit, if their new names aren't there any more. Else what was
 * removed under the new name would be back under the former one.
 */
export function withoutFormer<T extends object>(
  limits: readonly { readonly name: string; readonly formerly?: string | undefined }[],
  stored: T,
  next: unknown,
): T {
  const gone = limits.flatMap(({ name, formerly }) =>
    formerly === undefined || member(next, name) !== undefined ? [] : [formerly],
  )
  if (gone.length === 0) return stored
  return Object.fromEntries(Object.entries(stored).filter(([name]) => !gone.includes(name))) as T
}

/** Returns an own member of a value that may be an object; `undefined`: it has none. */
export function member(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** Returns the members of a value that may be an object. */
export function membersOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isObject(value) ? Object.entries(value) : []
}

export function mapValues<T, U>(
  record: Readonly<Record<string, T>>,
  map: (value: T, key: string) => U,
): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]))
}
