import { QuotaError } from '../../errors/quota-error.ts'
import { isObject } from '../../options/checks.ts'
import type { MoneyAmount } from '../../policy/money.ts'
import type { LimitWithBurst } from '../../policy/policy.ts'
import type { Versioned } from '../../policy/settings.ts'
import { member } from '../../policy/values.ts'
import { type Answer, boxed } from '../../store/quota-store.ts'
import type { StoredDocument, StoreWriteOptions, WriteReply } from '../../store/settings-store.ts'
import { MAX_WRITES } from '../decide/store-call.ts'

/** Options of a write. Public signatures write them out. */
export interface WriteOptions extends StoreWriteOptions {
  readonly ifVersion?: number | undefined
}

export const WRITE_OPTIONS: readonly (keyof WriteOptions)[] = ['ifVersion', 'ifRevision', 'by']

/** A document of a settings store, and how a policy reads it. */
export interface Document<T> {
  readonly sync: boolean
  read(): Answer<StoredDocument | undefined>
  write(document: unknown, options: StoreWriteOptions): Answer<WriteReply>
  /** Returns the settings in a stored document. */
  fitted(stored: StoredDocument | undefined): T & Versioned
}

/** The result of a change: the new settings and the document to store. Both `null`: remove them. */
export interface Change<N> {
  readonly next: N
  readonly document: object | null
}

/**
 * Changes a document. If another writer was faster, tries again, unless the caller named the expected version.
 *
 * @throws {QuotaError} `settings_conflict`; errors of `change`
 */
export async function writeDocument<T, N>(
  of: Document<T>,
  { ifVersion, ifRevision, by }: WriteOptions,
  change: (current: T, stored: unknown) => Change<N>,
): Promise<Versioned & Change<N>> {
  for (let tries = 1; ; tries++) {
    const { value: stored } = await boxed(of, of.read())
    const { version, revision, ...current } = of.fitted(stored)
    const isStored = (ifVersion ?? version) === version && (ifRevision ?? revision) === revision
    if (!isStored) throw conflict({ version: ifVersion ?? version, revision: ifRevision ?? '' }, { version, revision })
    const changed = change(current as T, stored?.document)
    const document = structuredClone(changed.document)
    const { value: reply } = await boxed(of, of.write(document, { ifRevision: revision, by }))
    if (reply.written) return { next: changed.next, document, version: reply.version, revision: reply.revision }
    if (tries === MAX_WRITES) throw conflict({ version, revision }, reply)
  }
}

function conflict(expected: Versioned, stored: Versioned): QuotaError {
  const what = expected.version === stored.version ? 'but others than expected' : `not at ${expected.version}`
  const message = `the settings are at version ${stored.version}, ${what}: read them again, then retry`
  return new QuotaError('settings_conflict', message)
}

/** Any part of a document, at any depth, but whole numbers of limits. `null` means "remove" or "follow the default". */
export type DeepPartial<T> = T extends readonly unknown[] | LimitWithBurst | MoneyAmount
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> | null }
    : T

/** JSON merge patch (RFC 7396): objects are merged member by member, everything else is replaced, `null` removes. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  return Object.fromEntries(merged)
}

/**
 * Returns a stored document after a change. Everything that the policy doesn't know stays, at any depth and in lists,
 * so that processes with an older or newer policy keep their values. What the policy knew and is missing was removed.
 *
 * @param known the part of `stored` that the policy knows
 * @param next `known` after the change
 */
export function rewritten(stored: unknown, known: unknown, next: unknown): unknown {
  if (Array.isArray(stored)) {
    const unknown = stored.filter((item) => !Array.isArray(known) || !known.includes(item))
    if (Array.isArray(next)) return [...next, ...unknown.filter((item) => !next.includes(item))]
    return next === undefined && unknown.length > 0 ? unknown : next
  }
  if (!isObject(stored) || !isObject(next)) return next
  const merged = new Map(Object.entries(stored))
  for (const key of new Set([...Object.keys(isObject(known) ? known : {}), ...Object.keys(next)])) {
    const value = rewritten(merged.get(key), member(known, key), next[key])
    if (value === undefined) merged.delete(key)
    else merged.set(key, value)
  }
  return Object.fromEntries(merged)
}
