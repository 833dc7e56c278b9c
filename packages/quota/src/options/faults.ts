import * as v from 'valibot'
import type { Fault } from '../errors/quota-error.ts'
import { kindOf, plain, shown } from '../errors/shown.ts'

/** The longest key in a path. Names of a policy are never longer. */
const MAX_KEY = 64

/** Returns all faults of a document, with unknown keys one by one; empty if it is valid. */
export function faultsOf(
  schema: v.GenericSchema,
  document: unknown,
  words?: Readonly<Record<string, string>>,
): Fault[] {
  return checked(schema, document, words).faults ?? []
}

/** A document with its defaults, or its faults. */
export function checked<T>(
  schema: v.GenericSchema<unknown, T>,
  document: unknown,
  words: Readonly<Record<string, string>> = {},
): { readonly value: T; readonly faults?: never } | { readonly faults: Fault[]; readonly value?: never } {
  const { success, output, issues } = v.safeParse(schema, document, ALL_FAULTS)
  return success ? { value: output } : { faults: issues.map((issue) => faultOf(issue, words)) }
}

/** Whether a value passes a check. */
export function fits<T>(check: v.GenericSchema<unknown, T>, value: unknown): value is T {
  return checked(check, value).faults === undefined
}

/** Passed with each document, because the program may have configured Valibot globally. */
const ALL_FAULTS = { abortEarly: false, abortPipeEarly: false, message: textOf }

function faultOf(issue: v.BaseIssue<unknown>, words: Readonly<Record<string, string>>): Fault {
  const key = issue.path?.at(-1)
  const isElsewhere = issue.expected === 'never' && key?.origin === 'key' && Object.hasOwn(words, String(key.key))
  return {
    path: pathOf(issue.path?.map((item) => item.key as PropertyKey)),
    message: isElsewhere ? unknownKey(String(key.key), [], words) : issue.message,
  }
}

/** Returns the path of a fault. */
export function pathOf(path: readonly PropertyKey[] = []): string {
  return path.map((part) => plain(String(part), MAX_KEY)).join('.')
}

/** Prefixes the paths of a member's faults. */
export function within(path: string, faults: readonly Fault[]): Fault[] {
  return faults.map((fault) => ({ ...fault, path: fault.path === '' ? path : `${path}.${fault.path}` }))
}

/** Messages for a missing value, and for an unexpected one. */
export function expectedText(what: string, value: unknown, show: (value: unknown) => string = shown): string {
  return value === undefined ? `missing; expected ${what}` : `expected ${what}, got ${show(value)}`
}

/** The message of a custom schema. It shows the value. */
export function expected(what: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => expectedText(what, input)
}

/** Like {@link expected}, for objects and functions: only the kind of the value is shown. */
export function expectedKind(what: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => expectedText(what, input, kindOf)
}

/** The text of an issue whose schema has none. Valibot's own text would show the value. */
function textOf({ expected: what, input }: v.BaseIssue<unknown>): string {
  return what === 'never' ? 'unknown key' : expectedText(what ?? 'something else', input, kindOf)
}

/** Longer words aren't typos. */
const MAX_LENGTH = 40

/**
 * Returns the name that was probably meant: one typo away for short words, two for longer ones; `undefined`: none is
 * close.
 */
export function nearest(word: string, names: readonly string[]): string | undefined {
  if (word.length > MAX_LENGTH) return undefined
  const slips = Math.min(2, Math.floor(word.length / 3))
  const measured = names.map((name) => ({ name, distance: distance(word.toLowerCase(), name.toLowerCase()) }))
  const best = measured.reduce((a, b) => (b.distance < a.distance ? b : a), { name: '', distance: slips + 1 })
  return best.distance <= slips ? best.name : undefined
}

/**
 * Counts the characters to add, remove, replace or swap with their neighbour.
 *
 * R. Lowrance and R. A. Wagner, "An Extension of the String-to-String Correction Problem", JACM 22 (1975), without
 * edits between swapped characters.
 */
function distance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const cheapest = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + (same ? 0 : 1))
      row.push(swapped ? Math.min(cheapest, beforeLast[j - 2]! + 1) : cheapest)
    }
    beforeLast = last
    last = row
  }
  return last[to.length]!
}

/** The longest list of names in a message, in characters. */
const MAX_LISTED = 120

/**
 * Returns the message for a name that isn't in `names`. It suggests the name that was probably meant, else lists as
 * many as fit.
 *
 * @param have who has the names, `the policy has`
 * @example
 * noSuchName('raed', ['read', 'write'], 'the policy has') // '"raed"; did you mean "read"?'
 */
export function noSuchName(name: unknown, names: readonly string[], have: string): string {
  const meant = typeof name === 'string' ? nearest(name, names) : undefined
  return `${shown(name)}; ${meant === undefined ? `${have} ${listed(names)}` : `did you mean "${meant}"?`}`
}

/** Lists names. If not all fit, adds how many are missing. */
export function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  const all = names.join(', ')
  if (all.length <= MAX_LISTED) return all
  const room = all.lastIndexOf(', ', MAX_LISTED)
  const first = room === -1 ? [] : all.slice(0, room).split(', ')
  return first.length === 0 ? `${names.length} names` : `${first.join(', ')} and ${names.length - first.length} more`
}

/** The message for a key that is not one of `names`. */
export function unknownKey(
  key: string,
  names: readonly string[],
  words: Readonly<Record<string, string>> = {},
): string {
  if (Object.hasOwn(words, key)) return `unknown key; ${words[key]!}`
  const meant = nearest(key, names)
  if (meant !== undefined) return `unknown key; did you mean "${meant}"?`
  return names.length === 0 ? 'unknown key' : `unknown key; known keys: ${listed(names)}`
}
