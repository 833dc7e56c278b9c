import type * as v from 'valibot'
import { kindOf, shown } from '../errors/shown.ts'

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
export function textOf({ expected: what, input }: v.BaseIssue<unknown>): string {
  return what === 'never' ? 'unknown key' : expectedText(what ?? 'something else', input, kindOf)
}
