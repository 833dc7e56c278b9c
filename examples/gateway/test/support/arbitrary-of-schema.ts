import * as fc from 'fast-check'
import type { Json } from './json-schema.ts'

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }

/** Finds what a `$ref` names. */
export type Resolve = (ref: string) => Json

/** Values that a schema of the document allows, with the ends of its ranges among them. */
export function arbitraryOf(schema: Json, resolve: Resolve): fc.Arbitrary<JsonValue> {
  const inner = (each: unknown): fc.Arbitrary<JsonValue> => arbitraryOf(each as Json, resolve)
  const { $ref, enum: values, const: constant, anyOf, type } = schema
  if (typeof $ref === 'string') return inner(resolve($ref))
  if (Array.isArray(values)) return fc.constantFrom(...(values as JsonValue[]))
  if (constant !== undefined) return fc.constant(constant as JsonValue)
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map(inner))
  if (Array.isArray(type)) return fc.oneof(...type.map((each) => inner({ ...schema, type: each })))
  return ofType(schema, inner)
}

type Inner = (schema: unknown) => fc.Arbitrary<JsonValue>

function ofType(schema: Json, inner: Inner): fc.Arbitrary<JsonValue> {
  const { minimum: min = -1e9, maximum: max = 1e9, minItems, maxItems = 5 } = schema as Record<string, number>
  switch (schema.type) {
    case 'integer':
      return fc.oneof(
        fc.integer({ min, max }),
        fc.constantFrom(min, max),
        fc.integer({ min, max: Math.min(max, min + 2_000) }),
      )
    case 'number':
      return fc.oneof(
        fc.double({ min, max, noNaN: true }),
        fc.integer({ min: Math.ceil(min), max: Math.min(max, 101) }),
      )
    case 'string':
      return ofString(schema)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(inner(schema.items ?? {}), {
        maxLength: Math.min(maxItems, 8),
        ...(minItems === undefined ? {} : { minLength: minItems }),
      })
    case 'object':
      return ofObject(schema, inner)
    default:
      return fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>
  }
}

function ofString({ pattern, minLength = 0, maxLength = 30 }: Json): fc.Arbitrary<JsonValue> {
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern))
  const range = { minLength: minLength as number, maxLength: Math.min(maxLength as number, 60) }
  return fc.oneof(fc.string(range), fc.string({ ...range, unit: 'binary' }), fc.constantFrom('100.5', '0', 'demo'))
}

function ofObject(
  { properties = {}, required = [], additionalProperties, propertyNames }: Json,
  inner: Inner,
): fc.Arbitrary<JsonValue> {
  const members = Object.entries(properties as Record<string, Json>).map(([name, each]) => [name, inner(each)] as const)
  const known = fc.record(Object.fromEntries(members), { requiredKeys: required as string[] })
  if (typeof additionalProperties !== 'object') return known
  const names = propertyNames === undefined ? fc.string() : (inner(propertyNames) as fc.Arbitrary<string>)
  return fc
    .tuple(known, fc.dictionary(names, inner(additionalProperties), { maxKeys: 3 }))
    .map(([a, b]) => ({ ...b, ...a }))
}

const DEEP: JsonValue = JSON.parse(`${'{"a":['.repeat(200)}1${']}'.repeat(200)}`)

/** What clients send that nobody foresees. */
const ODD: readonly JsonValue[] = [
  null,
  true,
  '',
  0,
  -1,
  0.1,
  1e308,
  -(2 ** 31),
  2 ** 31,
  2 ** 53,
  'x'.repeat(20_000),
  '\u0000',
  '\ud800',
  '\u202e\u{1f600}',
  "'; drop table scores; --",
  '__proto__',
  '9'.repeat(400),
  [],
  {},
  DEEP,
  Object.fromEntries([['__proto__', { admin: true }]]),
  { constructor: { prototype: { admin: true } } },
  Array.from({ length: 1_000 }, () => ({ musicId: 101, level: 3 })),
]

/** One change somewhere in a value: `at` picks the place. */
interface Edit {
  readonly at: readonly number[]
  readonly how: 'replace' | 'remove' | 'add' | 'repeat'
  readonly odd: number
}

const edits: fc.Arbitrary<Edit[]> = fc.array(
  fc.record({
    at: fc.array(fc.nat(50), { maxLength: 5 }),
    how: fc.constantFrom('replace', 'remove', 'add', 'repeat'),
    odd: fc.nat(ODD.length - 1),
  }),
  { minLength: 1, maxLength: 3 },
)

/** Values that are nearly what a schema allows. */
export function nearly(valid: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> {
  return fc
    .tuple(valid, edits)
    .map(([value, list]) => list.reduce((before, edit) => edited(before, edit.at, edit), value))
}

function edited(value: JsonValue, at: readonly number[], edit: Edit): JsonValue {
  const [step, ...rest] = at
  const odd = ODD[edit.odd] as JsonValue
  if (step === undefined || typeof value !== 'object' || value === null)
    return edit.how === 'repeat' ? [value, value] : odd
  const isList = Array.isArray(value)
  const entries = Object.entries(value)
  const index = entries.length === 0 ? 0 : step % entries.length
  const changed = entries.flatMap(([key, each], place): [string, JsonValue][] => {
    if (place !== index) return [[key, each]]
    if (rest.length > 0) return [[key, edited(each, rest, edit)]]
    if (edit.how === 'remove') return []
    if (edit.how === 'replace') return [[key, odd]]
    return edit.how === 'repeat'
      ? [
          [key, each],
          [`${key}${key}`, each],
        ]
      : [
          [key, each],
          ['__proto__', odd],
        ]
  })
  return isList ? changed.map(([, each]) => each) : Object.fromEntries(changed)
}
