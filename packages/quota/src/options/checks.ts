import * as v from 'valibot'
import { kindOf } from '../errors/shown.ts'
import type { Clock } from '../time/clock.ts'
import { expected, expectedKind, expectedText, unknownKey } from './faults.ts'

/** An object of any class that may have members. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An object without a class, like `{}`, from any realm. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** A rule for an option: a Valibot schema. The checks below say what they expect, and what they got. */
export type Check<T> = v.GenericSchema<unknown, T>

/** Checks a value by a predicate. Its error shows the value, so don't use it for secrets. */
export function where<T>(isRight: (value: unknown) => boolean, what: string): Check<T> {
  return v.custom<T>(isRight, expected(what))
}

/**
 * An object with these methods. A program may contain two copies of a package, so the class isn't checked.
 *
 * @param what for example `a logger`
 * @param isOther what else is valid
 */
export function having<T>(
  methods: readonly string[],
  what: string,
  isOther: (value: object) => boolean = () => false,
): Check<T> {
  return v.custom<T>(
    (value) => lackOf(methods, value) === undefined || (isObject(value) && isOther(value)),
    ({ input }) => expectedText(what, input, (value) => kindWithout(lackOf(methods, value), value)),
  )
}

/** The first of these methods that a value lacks. */
function lackOf(methods: readonly string[], value: unknown): string | undefined {
  const object = Object(value) as Readonly<Record<string, unknown>>
  return methods.find((method) => typeof object[method] !== 'function')
}

function kindWithout(method: string | undefined, value: unknown): string {
  const isPromise = typeof (value as { readonly then?: unknown } | null)?.then === 'function'
  return typeof value === 'object' && value !== null && !isPromise
    ? `${kindOf(value)} without ${method}()`
    : kindOf(value)
}

/** Checks an object by a predicate. Its error names the kind of value, and shows nothing of it. */
export function objectWhere<T>(isRight: (value: object) => boolean, what: string): Check<T> {
  return v.custom<T>((value) => typeof value === 'object' && value !== null && isRight(value), expectedKind(what))
}

export function aFunction<T>(what = 'a function'): Check<T> {
  return v.custom<T>((value) => typeof value === 'function', expectedKind(what))
}

export function anAddress(): Check<string> {
  return where<string>((value) => typeof value === 'string' && URL.canParse(value), 'an address')
}

export function aClock(): Check<Clock> {
  return having<Clock>(['now'], 'a clock in epoch milliseconds')
}

/** A whole number in a range, including both ends. */
export function wholeNumber(min: number, max: number, unit = ''): Check<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `, ${min} or more` : ` from ${min} to ${max}`
  const what = `a whole number${unit === '' ? '' : ` of ${unit}`}${range}`
  return where((value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max, what)
}

export function oneOf<const T extends string | boolean>(...values: readonly T[]): Check<T> {
  const what = values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value))).join(' or ')
  return where((value) => values.includes(value as T), what)
}

export function textLike(pattern: RegExp, what: string): Check<string> {
  return where((value) => typeof value === 'string' && pattern.test(value), what)
}

/** An option that can be left out. */
export function optional<T>(check: Check<T>): Check<T | undefined> {
  return v.optional(check) as Check<T | undefined>
}

/** An option with the default `value`. */
export function withDefault<T>(check: Check<T>, value: T): Check<T> {
  // Valibot would call a default that is a function.
  return v.optional(check, (() => value) as never) as Check<T>
}

/** A list of `min` to `max` entries. */
export function listOf<T>(check: Check<T>, min: number, max: number): Check<T[]> {
  const count = v.rawCheck<T[]>(({ dataset: { value }, addIssue }) => {
    if (!Array.isArray(value) || (value.length >= min && value.length <= max)) return
    addIssue({ message: `expected ${min} to ${max} entries, got ${value.length}` })
  })
  return v.pipe(v.array(check, expectedKind('an array')) as Check<T[]>, count)
}

/** An object with any keys and the same check for each. */
export function tableOf<T>(check: Check<T>, what: string): Check<Record<string, T>> {
  return tableBy(() => undefined, check, what)
}

/** Like {@link tableOf}, with restricted keys. `wrongKey` returns what is wrong with a key. */
export function tableBy<T>(
  wrongKey: (key: string) => string | undefined,
  check: Check<T>,
  what: string,
): Check<Record<string, T>> {
  return tableEach((key) => wrongKey(key) ?? check, what)
}

/** An object whose keys determine the check of their value, or are invalid. */
export function tableEach<T>(checkOf: (key: string) => Check<T> | string, what: string): Check<Record<string, T>> {
  const entry = (key: string): Check<T> => {
    // Valibot's records skip some keys, and assigning this one would set the prototype.
    const check = key === '__proto__' ? 'not a possible key' : checkOf(key)
    return typeof check === 'string' ? refused(check) : check
  }
  return objectBy(isPlain, what, (table) =>
    v.object(Object.fromEntries(Object.keys(table).map((key) => [key, entry(key)]))),
  )
}

/** An object of options inside options. @param others more names to suggest for unknown ones, invalid here */
export function group<T extends object>(checks: Checks<T>, others: readonly string[] = []): Check<T> {
  const names = Object.keys(checks)
  const members = v.object(Object.fromEntries(names.map((name) => [name, member(checks[name as keyof T])])))
  return objectBy(isObject, 'an object', (options) => v.pipe(members, noOthers(options, names, others)))
}

/** A check for each option. */
export type Checks<T extends object> = { readonly [K in keyof T]-?: Check<T[K]> }

type Members = Readonly<Record<string, unknown>>

/** An object with a schema for that object. */
function objectBy<T extends object>(
  isRight: (value: unknown) => value is Members,
  what: string,
  schemaOf: (object: Members) => v.GenericSchema,
): Check<T> {
  const none = refused<T>(expectedKind(what))
  return v.lazy((value) => (isRight(value) ? (schemaOf(value) as Check<T>) : none))
}

function refused<T>(message: v.ErrorMessage<v.CustomIssue>): Check<T> {
  return v.custom<T>(() => false, message)
}

/** A member with its own message for a missing value. */
function member(check: Check<unknown>): Check<unknown> {
  const mayBeMissing = ['optional', 'exact_optional', 'nullish'].includes(check.type)
  return mayBeMissing ? check : v.exactOptional(check, (() => undefined) as never)
}

/** How many unknown keys of one object are compared with the known ones. */
const MAX_EXPLAINED = 100

/** Reports every unknown key. A strict object of Valibot reports only one. */
function noOthers(
  input: Members,
  names: readonly string[],
  suggested: readonly string[],
): v.RawCheckAction<Record<string, unknown>> {
  const known = new Set(names)
  return v.rawCheck(({ addIssue }) => {
    const others = Object.keys(input).filter((key) => !known.has(key))
    for (const [index, key] of others.entries()) {
      const message = index < MAX_EXPLAINED ? unknownKey(key, [...names, ...suggested]) : 'unknown key'
      addIssue({ expected: 'never', message, path: [{ type: 'object', origin: 'key', input, key, value: undefined }] })
    }
  })
}
