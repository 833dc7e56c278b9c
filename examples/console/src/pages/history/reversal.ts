type Json = unknown
type Document = Readonly<Record<string, Json>>

/** The smallest changed part of a document. A list is one part. */
export interface Part {
  readonly path: string
  readonly keys: readonly string[]
  /** `undefined` if the part was absent. */
  readonly before: Json
  readonly after: Json
}

export type Standing =
  /** The value is still as the change left it. */
  | 'open'
  /** The value is already as it was before the change. */
  | 'done'
  /** The value has changed again since. */
  | 'later'

export function partsOf(before: Document, after: Document): Part[] {
  const parts: Part[] = []
  const walk = (old: Json, now: Json, keys: readonly string[]): void => {
    if (isSame(old, now)) return
    // A table that was added or removed is one part.
    if (isObject(old) && isObject(now)) {
      for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) walk(old[key], now[key], [...keys, key])
      return
    }
    parts.push({ path: keys.join('.'), keys, before: old, after: now })
  }
  walk(before, after, [])
  return parts
}

export function standingOf(part: Part, now: Document): Standing {
  const value = valueAt(part, now)
  if (isSame(value, part.before)) return 'done'
  return isSame(value, part.after) ? 'open' : 'later'
}

export function valueAt(part: Part, document: Document): Json {
  return part.keys.reduce<Json>((at, key) => (isObject(at) ? at[key] : undefined), document)
}

/** A JSON merge patch (RFC 7396) that restores the parts and leaves everything else alone. */
export function patchOf(parts: readonly Part[]): Record<string, Json> {
  const patch: Record<string, Json> = {}
  for (const { keys, before } of parts) {
    let at = patch
    for (const key of keys.slice(0, -1)) {
      const inner = isObject(at[key]) ? { ...at[key] } : {}
      at[key] = inner
      at = inner
    }
    at[keys.at(-1) ?? ''] = before ?? null
  }
  return patch
}

/** Absent, `null` and empty are equal: nothing is set. */
function isSame(one: Json, other: Json): boolean {
  if (isNothing(one) && isNothing(other)) return true
  if (Array.isArray(one) || Array.isArray(other) || !isObject(one) || !isObject(other)) {
    return JSON.stringify(one) === JSON.stringify(other)
  }
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((key) => isSame(one[key], other[key]))
}

function isNothing(value: Json): boolean {
  return value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0)
}

function isObject(value: Json): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
