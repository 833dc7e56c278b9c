import * as z from 'zod'

/** A header field of a response. */
interface Field {
  readonly schema: z.ZodType
  readonly description: string
  /** Whether any response may lack it. */
  readonly atTimes?: boolean
}

const text = z.string()

/** Header fields of responses. */
const FIELDS = {
  'X-Request-Id': {
    schema: text,
    description: "The request's id in our log: the one that the client sent, or a new one.",
  },
  ETag: { schema: text, description: "The document's version and revision, for `If-Match`." },
  Location: { schema: text, description: 'The path of the new resource.' },
  'Idempotency-Replayed': {
    schema: text,
    description: '`true`: the stored response to an earlier request with this key. Nothing was repeated.',
    atTimes: true,
  },
  'Retry-After': { schema: z.int().min(0), description: 'Whole seconds to wait before retrying.' },
  'X-Quota-Reset': { schema: z.iso.datetime(), description: 'When the window that refuses ends, ISO 8601 UTC.' },
  RateLimit: {
    schema: text,
    description: 'The remaining quota: `r` tokens for `t` more seconds. In a 429, only the windows that refuse.',
    atTimes: true,
  },
  'RateLimit-Policy': {
    schema: text,
    description: 'The windows that apply: `q` tokens in `w` seconds.',
    atTimes: true,
  },
  'WWW-Authenticate': { schema: text, description: 'The required credential.' },
} as const satisfies Readonly<Record<string, Field>>

export type FieldName = keyof typeof FIELDS

/** Header fields of requests. */
const REQUEST_FIELDS = {
  'If-Match':
    'The `ETag` of the document that you read; `*`: any. A version without revision, `"7"`, matches any document with it.',
  'If-None-Match': '`*`: creates a new document, and never changes an existing one.',
  'Idempotency-Key':
    'Identifies this attempt. A repeat with the same key gets the same response, and nothing is done twice.',
} as const

export type RequestFieldName = keyof typeof REQUEST_FIELDS

const required = tableOf(({ schema, description, atTimes }, id) => {
  return (atTimes === true ? schema.optional() : schema).meta({ description, header: { id } })
})
const optional = tableOf(({ schema, description }) => schema.optional().meta({ description }))

function tableOf(make: (field: Field, name: string) => z.ZodType): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(Object.entries<Field>(FIELDS).map(([name, field]) => [name, make(field, name)]))
}

/** The header fields of a response: those that it always has, and those that it may lack. */
export function answerFields(always: readonly FieldName[], atTimes: readonly FieldName[] = []) {
  return z.object({ ...pick(required, always), ...pick(optional, atTimes) })
}

function pick(table: Readonly<Record<string, z.ZodType>>, names: readonly FieldName[]): Record<string, z.ZodType> {
  return Object.fromEntries(names.flatMap((name) => (table[name] === undefined ? [] : [[name, table[name]]])))
}

/** The header fields of a request. */
export function requestFields(names: readonly RequestFieldName[], isMatchRequired: boolean) {
  const fields = names.map((name) => {
    const isRequired = name === 'If-Match' && isMatchRequired
    return [name, (isRequired ? text : text.optional()).meta({ description: REQUEST_FIELDS[name] })] as const
  })
  return z.object(Object.fromEntries(fields))
}
