import type { Json } from './schemas.ts'

const text = { type: 'string' } as const

/** Header fields of responses. */
const ANSWER_HEADERS: Readonly<Record<string, Json>> = {
  'X-Request-Id': {
    description: "The request's id in our log: the one that the client sent, or a new one.",
    schema: text,
    example: '0b6c7f5e-4a9d-4b8e-9a53-5d0f6f0f7c11',
  },
  ETag: {
    description: "The document's version and revision, for `If-Match`.",
    schema: text,
    example: '"7-pZ0x3kqT5vB1nL8wYc2dRg"',
  },
  Location: { description: 'The path of the new resource.', schema: text },
  'Idempotency-Replayed': {
    description: '`true`: the stored response to an earlier request with this key. Nothing was repeated.',
    schema: text,
  },
  'Retry-After': {
    description: 'Whole seconds to wait before retrying.',
    schema: { type: 'integer', minimum: 0 },
    example: 1800,
  },
  'X-Quota-Reset': {
    description: 'When the window that refuses ends, ISO 8601 UTC.',
    schema: { type: 'string', format: 'date-time' },
    example: '2026-08-06T15:06:26.000Z',
  },
  RateLimit: {
    description: 'The remaining quota: `r` tokens for `t` more seconds. In a 429, only the windows that refuse.',
    schema: text,
  },
  'RateLimit-Policy': {
    description: 'The windows that apply: `q` tokens in `w` seconds.',
    schema: text,
  },
  'WWW-Authenticate': { description: 'The required credential.', schema: text, example: 'Bearer' },
}

/** Fields that any response may lack. */
const AT_TIMES = ['Idempotency-Replayed', 'RateLimit', 'RateLimit-Policy']

/** Header fields of requests. */
const REQUEST_HEADERS: Readonly<Record<string, Json>> = {
  'If-Match': {
    description:
      'The `ETag` of the document that you read; `*`: any. A version without revision, `"7"`, matches any document with it.',
    schema: text,
    example: '*',
  },
  'If-None-Match': {
    description: '`*`: creates a new document, and never changes an existing one.',
    schema: text,
  },
  'Idempotency-Key': {
    description:
      'Identifies this attempt. A repeat with the same key gets the same response, and nothing is done twice.',
    schema: text,
    example: '7f9c24e8-3b12-4fef-91e0-56a2d3c1b0aa',
  },
}

/**
 * Returns a header field that the response always has.
 *
 * @param example goes before the field's own
 */
export function answerHeader(name: string): Json {
  const header = known(ANSWER_HEADERS, name)
  return AT_TIMES.includes(name) ? header : { ...header, required: true }
}

/** Returns a header field that the response may lack. */
export function optionalAnswerHeader(name: string): Json {
  return known(ANSWER_HEADERS, name)
}

/** Returns a header field of a request, as a parameter. */
export function headerParameter(name: string, required: boolean): Json {
  return { name, in: 'header', required, ...known(REQUEST_HEADERS, name) }
}

function known(table: Readonly<Record<string, Json>>, name: string): Json {
  const header = table[name]
  if (header === undefined) throw new Error(`openapi/headers.ts has no description of ${name}`)
  return header
}
