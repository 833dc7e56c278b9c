type Json = unknown
type Document = Readonly<Record<string, Json>>

/** A changed part of a document, as small as possible. Lists are one part. */
export interface Part {
  /** Its dotted path. */
  readonly path: string
  readonly keys: readonly string[]
  /** `undefined`: it was not there, or is not any more. */
  readonly before: Json
  readonly after: Json
}

/** What to say of a part when it is to be as it was. */
export type Standing =
  /** It is as the change left it. */
  | 'open'
  /** It is as it was before the change, by now. */
  | 'done'
  /** It has been changed again since. */
  | 'later'

/** What a change changed. */
export function partsOf(before: Document, after: Document): Part[] {
  const parts: Part[] = []
  const walk = (old: Json, now: Json, keys: readonly string[]): void => {
    if (isSame(old, now)) return
    // A plan that comes or goes is one part; so is a table.
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

/** What a document has at a part's place. */
export function valueAt(part: Part, document: Document): Json {
  return part.keys.reduce<Json>((at, key) => (isObject(at) ? at[key] : undefined), document)
}

/** The JSON merge patch (RFC 7396) after which parts are as they were, whatever else is changed meanwhile. */
export function patchOf(parts: readonly Part[]): Document {
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

/** Absent and `null` are the same: nothing is set. */
function isSame(one: Json, other: Json): boolean {
  if (isNothing(one) && isNothing(other)) return true
  if (Array.isArray(one) || Array.isArray(other) || !isObject(one) || !isObject(other)) {
    return JSON.stringify(one) === JSON.stringify(other)
  }
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((key) => isSame(one[key], other[key]))
}

function isNothing(value: Json): boolean {
  return value === undefined || value === null
}

function isObject(value: Json): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
