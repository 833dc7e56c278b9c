/** Any part of a document, at any depth; `null` stands for "remove" or "follow the default". */
export type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> | null }
    : T

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

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
