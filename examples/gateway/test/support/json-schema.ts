/** A JSON Schema, or another part of a document. */
export type Json = Readonly<Record<string, unknown>>

const MAPS = ['properties', '$defs', 'patternProperties']
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const SINGLES = ['items', 'additionalProperties', 'propertyNames', 'contains', 'not']

/** Changes a schema and its inner schemas, the innermost first. */
export function mapSchema(schema: Json, change: (schema: Json) => Json): Json {
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => {
    if (MAPS.includes(key) && isJson(value)) {
      return [key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapped(each, change)]))]
    }
    if (LISTS.includes(key) && Array.isArray(value)) return [key, value.map((each) => mapped(each, change))]
    return [key, SINGLES.includes(key) ? mapped(value, change) : value]
  })
  return change(Object.fromEntries(entries))
}

function mapped(value: unknown, change: (schema: Json) => Json): unknown {
  return isJson(value) ? mapSchema(value, change) : value
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
