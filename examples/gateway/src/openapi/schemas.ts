import * as z from 'zod'

/** Which side of a schema is meant: what clients may send, or what they get. */
type Side = 'input' | 'output'

/** The document's named schemas, collected while its operations are written. */
export class Schemas {
  readonly #named = new Map<string, Json>()
  /** What a schema became, by side: many operations answer with the same. */
  readonly #inlined = { input: new Map<z.ZodType, Json>(), output: new Map<z.ZodType, Json>() }

  /** A reference to a schema, by the id that it has (`.meta({ id })`) or the given name. */
  named(schema: z.ZodType, name: string, side: Side): Json {
    const json = this.inline(schema, side)
    return '$ref' in json ? json : this.#put(name, json, side)
  }

  /** A schema as it is; the ones in it that have an id become references. */
  inline(schema: z.ZodType, side: Side): Json {
    const known = this.#inlined[side].get(schema)
    if (known !== undefined) return known
    const json = this.#written(schema, side)
    this.#inlined[side].set(schema, json)
    return json
  }

  #written(schema: z.ZodType, side: Side): Json {
    const { $schema: _, $defs = {}, ...json } = z.toJSONSchema(schema, { io: side, unrepresentable: 'any', override })
    const refs = new Map<string, unknown>()
    // Inner definitions come before those that refer to them: a name is known before it is needed.
    for (const [id, each] of definitionsOf($defs as Record<string, Json>)) {
      refs.set(`#/$defs/${id}`, this.#put(id, tidy(each, refs), side).$ref)
    }
    return tidy(json, refs)
  }

  all(): Record<string, Json> {
    return Object.fromEntries([...this.#named].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** One name stands for one schema: where the sides of a schema differ, the later one gets a name of its own. */
  #put(id: string, json: Json, side: Side): Json {
    const known = this.#named.get(id)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(json)) {
      const own = side === 'input' ? 'Input' : 'Output'
      if (!id.endsWith(own)) return this.#put(`${id}${own}`, json, side)
      throw new Error(`two schemas are named ${id}: give one of them another id`)
    }
    this.#named.set(id, json)
    return { $ref: `#/components/schemas/${id}` }
  }
}

/** Definitions in an order in which each comes after those that it refers to. */
function definitionsOf(definitions: Readonly<Record<string, Json>>): [string, Json][] {
  const ordered = new Map<string, Json>()
  const visit = (id: string): void => {
    const json = definitions[id]
    if (json === undefined || ordered.has(id)) return
    for (const [, inner = ''] of JSON.stringify(json).matchAll(/"#\/\$defs\/([^"]+)"/g)) if (inner !== id) visit(inner)
    ordered.set(id, json)
  }
  for (const id of Object.keys(definitions)) visit(id)
  return [...ordered]
}

/** Only strict objects are closed to both sides: answers of the others may gain members in later versions. */
function override({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodTypes
  jsonSchema: z.core.JSONSchema.BaseSchema
}) {
  const { def } = zodSchema._zod
  if (def.type === 'object' && def.catchall === undefined) Reflect.deleteProperty(jsonSchema, 'additionalProperties')
}

/** Takes out what says nothing to people. */
function tidy(schema: Json, refs: ReadonlyMap<string, unknown>): Json {
  return mapSchema(schema, (each) => {
    const { $ref } = each
    const json = without(
      each,
      (key, value) =>
        value === undefined ||
        (key === 'maximum' && value === Number.MAX_SAFE_INTEGER) ||
        (key === 'minimum' && value === Number.MIN_SAFE_INTEGER) ||
        (key === 'pattern' && each.format === 'date-time'),
    )
    return typeof $ref === 'string' ? { ...json, $ref: refs.get($ref) ?? $ref } : json
  })
}

/** A JSON Schema, or another part of a document. */
export type Json = Readonly<Record<string, unknown>>

const MAPS = ['properties', '$defs', 'patternProperties']
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const SINGLES = ['items', 'additionalProperties', 'propertyNames', 'contains', 'not']

/** Changes a schema and every schema in it, the inner ones first. What only looks like one, an example or an enum, stays. */
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

/** A schema without some of its keywords. */
function without(schema: Json, isLeftOut: (key: string, value: unknown) => boolean): Json {
  return Object.fromEntries(Object.entries(schema).filter(([key, value]) => !isLeftOut(key, value)))
}

/** `source_rate_limited` and `upsertMusic` as names of schemas: `SourceRateLimited`, `UpsertMusic`. */
export function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')
}
