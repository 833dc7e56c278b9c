import * as v from 'valibot'
import type { Fault } from '../errors/quota-error.ts'
import { kindOf, plain, shown } from '../errors/shown.ts'
import { unknownKey } from './names.ts'

/** Longest key in a path; names of a policy are never longer. */
const MAX_KEY = 64

/** Every fault of a document under a schema, unknown keys one by one; empty when it fits. */
export function faultsOf(
  schema: v.GenericSchema,
  document: unknown,
  words?: Readonly<Record<string, string>>,
): Fault[] {
  return checked(schema, document, words).faults ?? []
}

/** A document with its defaults filled in, or what is wrong with it. */
export function checked<T>(
  schema: v.GenericSchema<unknown, T>,
  document: unknown,
  words: Readonly<Record<string, string>> = {},
): { readonly value: T; readonly faults?: never } | { readonly faults: Fault[]; readonly value?: never } {
  const { success, output, issues } = v.safeParse(schema, document, ALL_FAULTS)
  return success ? { value: output } : { faults: issues.map((issue) => faultOf(issue, words)) }
}

/** Whether a value is as a check wants it. */
export function fits<T>(check: v.GenericSchema<unknown, T>, value: unknown): value is T {
  return checked(check, value).faults === undefined
}

/** Set for each document: a program may have set Valibot otherwise for its own. */
const ALL_FAULTS = { abortEarly: false, abortPipeEarly: false, message: textOf }

function faultOf(issue: v.BaseIssue<unknown>, words: Readonly<Record<string, string>>): Fault {
  const key = issue.path?.at(-1)
  const isElsewhere = issue.expected === 'never' && key?.origin === 'key' && Object.hasOwn(words, String(key.key))
  return {
    path: pathOf(issue.path?.map((item) => item.key as PropertyKey)),
    message: isElsewhere ? unknownKey(String(key.key), [], words) : issue.message,
  }
}

/** The path at which a fault is reported. */
export function pathOf(path: readonly PropertyKey[] = []): string {
  return path.map((part) => plain(String(part), MAX_KEY)).join('.')
}

/** Faults of a member, by their paths in the whole. */
export function within(path: string, faults: readonly Fault[]): Fault[] {
  return faults.map((fault) => ({ ...fault, path: fault.path === '' ? path : `${path}.${fault.path}` }))
}

/** Messages for a value that is missing, and for one that is another than expected. */
export function expectedText(what: string, value: unknown, show: (value: unknown) => string = shown): string {
  return value === undefined ? `missing: ${what}` : `expected ${what}, got ${show(value)}`
}

/** An error for a schema of one's own, which shows the value. */
export function expected(what: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => expectedText(what, input)
}

/** As {@link expected}, for objects and functions: the value is described by its kind alone. */
export function expectedKind(what: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => expectedText(what, input, kindOf)
}

/** The text of an issue whose schema has none of its own; Valibot's own would show the value. */
function textOf({ expected: what, input }: v.BaseIssue<unknown>): string {
  return what === 'never' ? 'unknown key' : expectedText(what ?? 'something else', input, kindOf)
}
