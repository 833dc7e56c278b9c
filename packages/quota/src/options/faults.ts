import * as v from 'valibot'
import type { Fault } from '../errors/quota-error.ts'
import { plain } from '../errors/shown.ts'
import { textOf } from './expected.ts'
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
