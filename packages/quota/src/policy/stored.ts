import type { Fault } from '../errors/quota-error.ts'
import { plain } from '../errors/shown.ts'
import { isObject } from '../options/checks.ts'

/** The most faults reported per document. */
const MAX_FAULTS = 100

/** A stored document as a policy can use it, and its faults. */
export interface Fitted<T> {
  readonly settings: T
  readonly faults: readonly Fault[]
}

/** Collects faults of a stored document, up to a limit. */
export class Faults {
  readonly list: Fault[] = []

  add(path: string, message: string): void {
    if (this.list.length < MAX_FAULTS) this.list.push({ path, message })
  }
}

/** Reports names that the policy does not have. */
export function noteUnknownKeys(value: unknown, known: object, path: string, faults: Faults): void {
  if (value !== undefined && !isObject(value)) {
    faults.add(path, 'expected an object: not in force')
    return
  }
  for (const key of Object.keys(value ?? {})) {
    const of = path === '' ? '' : `${path}.`
    if (!Object.hasOwn(known, key)) faults.add(of + plain(key), 'not in the policy: kept, not in force')
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
