type Json = unknown

/** Deeper than any valid document: deeper values are copied unmerged, and validation refuses them. */
const MAX_DEPTH = 16

/** JSON merge patch (RFC 7396): objects are merged member by member, everything else is replaced, `null` removes. */
export function mergePatch(target: Json, patch: Json, depth = 0): Json {
  if (!isObject(patch) || depth > MAX_DEPTH) return patch
  // A map, so that no member's name means anything to the object that is made.
  const merged = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name)
    else merged.set(name, mergePatch(merged.get(name), value, depth + 1))
  }
  return Object.fromEntries(merged)
}

function isObject(value: Json): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
