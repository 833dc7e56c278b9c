import * as z from 'zod'

/** The direction of a schema: what clients send, or what they receive. */
type Side = 'input' | 'output'

/** The named schemas of a document, collected while operations are written. */
export class Schemas {
  readonly #named = new Map<string, Json>()
  /** Converted schemas by side, because many operations share them. */
  readonly #inlined = { input: new Map<z.ZodType, Json>(), output: new Map<z.ZodType, Json>() }

  /** Returns a reference to a schema, by its id (`.meta({ id })`) or the given name. */
  named(schema: z.ZodType, name: string, side: Side): Json {
    const json = this.inline(schema, side)
    return '$ref' in json ? json : this.#put(name, json, side)
  }

  /** Returns the schema itself. Schemas in it that have an id become references. */
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
    // Inner definitions come first, so that each name exists before it is used.
    for (const [id, each] of definitionsOf($defs as Record<string, Json>)) {
      refs.set(`#/$defs/${id}`, this.#put(id, tidy(each, refs), side).$ref)
    }
    return tidy(json, refs)
  }

  all(): Record<string, Json> {
    return Object.fromEntries([...this.#named].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Adds a schema under a name. If a schema differs by side, the later one gets its own name. */
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

/** Sorts definitions so that each comes after those that it refers to. */
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

/**
 * Removes `additionalProperties: false`, except for strict objects. Other objects may get new members in later
 * versions.
 */
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

/** Removes keywords that mean nothing to people. */
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

/**
 * Changes a schema and its inner schemas, the innermost first. Examples and enums stay, even if they resemble schemas.
 */
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

/**
 * Converts a name to the name of a schema: `source_rate_limited` to `SourceRateLimited`, `upsertMusic` to
 * `UpsertMusic`.
 */
export function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')
}
