import { isObject } from '../../options/objects.ts'
import { member } from '../../policy/stored.ts'

/** Any part of a document, at any depth; `null` stands for "remove" or "follow the default". */
export type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> | null }
    : T

/**
 * JSON merge patch (RFC 7396): objects are merged member by member, everything else is replaced, `null` removes.
 *
 * @param nulls `keep-null`: `null` is a value like any other
 */
export function mergePatch(
  target: unknown,
  patch: unknown,
  nulls: 'remove-null' | 'keep-null' = 'remove-null',
): unknown {
  if (!isObject(patch)) return patch
  const merged = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue
    if (value === null && nulls === 'remove-null') merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value, nulls))
  }
  return Object.fromEntries(merged)
}

/**
 * A stored document after a change of what a policy knows of it. What the policy does not know stays, at any depth and in
 * lists, so that a process with an older or a newer policy finds its values again; what it knew and is gone was removed.
 *
 * @param known what the policy knows of `stored`
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
