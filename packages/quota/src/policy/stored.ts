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
