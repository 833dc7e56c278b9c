import * as z from 'zod'
import type { ZodOpenApiResponseObject } from 'zod-openapi'
import { ERROR_CODES, type ErrorCode, meaningOf, statusOf } from '../http/http-error.ts'
import type { Route } from '../http/route.ts'
import { quotaExceeded } from '../quota/documents.ts'
import { answerFields, type FieldName } from './headers.ts'

/** Any response to a metered request may have them. */
const RATE_LIMIT_FIELDS = ['RateLimit', 'RateLimit-Policy'] as const

/** Fields of errors: those that a code always has, and those that it may have. */
const REQUIRED_WITH: Partial<Readonly<Record<ErrorCode, FieldName>>> = {
  unauthorized: 'WWW-Authenticate',
  player_busy: 'Retry-After',
  quota_unavailable: 'Retry-After',
  overloaded: 'Retry-After',
  shutting_down: 'Retry-After',
}
const OPTIONAL_WITH: Partial<Readonly<Record<ErrorCode, FieldName>>> = {
  precondition_failed: 'ETag',
  conflict: 'Retry-After',
  sync_in_progress: 'Retry-After',
  source_rate_limited: 'Retry-After',
  source_error: 'Retry-After',
}

/** The body of every error except `quota_exceeded`. */
export const errorSchema: z.ZodType = z
  .object({
    error: z.enum(ERROR_CODES).describe('What went wrong, for programs.'),
    msg: z.string().describe('What went wrong, for people.'),
    requestId: z.string().describe("The request's id in our log."),
    details: z
      .array(z.object({ path: z.string(), msg: z.string() }))
      .optional()
      .describe('All faults of the request, by dotted path, for example `musicList.0.level`.'),
    source: z.enum(['lx', 'fish']).optional().describe('The score service.'),
    upstreamStatus: z.int().optional().describe('Its HTTP status.'),
    retryAfterSeconds: z.int().optional().describe('Whole seconds to wait before retrying.'),
  })
  .meta({ id: 'Error', description: 'What went wrong.' })

/** What a route answers when it succeeds, by status. */
export function successesOf({ id, statuses: given, answer, answerType = 'application/json', ...route }: Route) {
  const rateLimits = route.operation === undefined ? [] : RATE_LIMIT_FIELDS
  const headers = answerFields(['X-Request-Id', ...(route.answerHeaders ?? []), ...rateLimits])
  const isEmpty = answer instanceof z.ZodUndefined
  const content = { [answerType]: { schema: named(answer, `${pascal(id)}Answer`) } }
  const statuses = given ?? [isEmpty ? 204 : 200]
  return Object.fromEntries(
    statuses.map((status) => {
      const description = SUCCESSES[status] ?? 'Done.'
      return [status, isEmpty ? { description, headers } : { description, headers, content }]
    }),
  )
}

const SUCCESSES: Readonly<Record<number, string>> = {
  201: 'Created.',
  202: 'Accepted, and in progress.',
  204: 'Done. The response has no body.',
}

/** The error responses of a document. Those with the same codes are written once. */
export class ErrorResponses {
  readonly #errorBody: z.ZodType
  readonly #known = new Map<string, ZodOpenApiResponseObject>()

  constructor(errorBody: z.ZodType) {
    this.#errorBody = errorBody
  }

  /** Of one route, by status. */
  of(route: Route): Record<string, ZodOpenApiResponseObject> {
    const codes = codesOf(route)
    const statuses = [...new Set(codes.map(statusOf))]
    return Object.fromEntries(
      statuses.map((status) => [status, this.#response(codes.filter((code) => statusOf(code) === status))]),
    )
  }

  #response(codes: readonly ErrorCode[]): ZodOpenApiResponseObject {
    const id = codes.map(pascal).join('Or')
    const response = this.#known.get(id) ?? {
      id,
      description: codes.map((code) => `\`${code}\`: ${meaningOf(code)}`).join('\n\n'),
      headers: fieldsOf(codes),
      content: { 'application/json': { schema: this.#bodyOf(codes) } },
    }
    this.#known.set(id, response)
    return response
  }

  /** The body's `error`, if it has one, is one of the codes. */
  #bodyOf(codes: readonly ErrorCode[]) {
    // A refusal has a body of its own, the specification's.
    if (codes.includes('quota_exceeded')) return quotaExceeded
    if (!(this.#errorBody instanceof z.ZodObject) || !('error' in this.#errorBody.shape)) return this.#errorBody
    const error = { type: 'string' as const, enum: [...codes] }
    const any = { $ref: '#/components/schemas/Error' }
    return { allOf: [any, { type: 'object' as const, properties: { error }, required: ['error'] }] }
  }
}

function fieldsOf(codes: readonly ErrorCode[]) {
  if (codes.includes('quota_exceeded')) {
    return answerFields(['X-Request-Id', 'Retry-After', 'X-Quota-Reset', ...RATE_LIMIT_FIELDS])
  }
  const needed = codes.map((code) => REQUIRED_WITH[code])
  const always = needed.filter((field) => field !== undefined && needed.every((each) => each === field))
  const atTimes = [...needed, ...codes.map((code) => OPTIONAL_WITH[code])].filter((field) => !always.includes(field))
  const known = (fields: readonly (FieldName | undefined)[]) => [
    ...new Set(fields.filter((field) => field !== undefined)),
  ]
  return answerFields(['X-Request-Id', ...known(always)], known(atTimes))
}

/** The errors that follow from a route's form, and those that it names. */
function codesOf({ access, body, params, query, errors = [], operation, requestHeaders = [] }: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>(['bad_request', 'internal_error', 'overloaded', 'shutting_down', ...errors])
  const add = (condition: boolean, ...more: ErrorCode[]): void => {
    if (condition) for (const code of more) codes.add(code)
  }
  // A request with two credentials is rejected. The store of credentials, or the keys for JWTs, can be unavailable.
  add(access !== 'public', 'bad_request', 'unauthorized', 'quota_unavailable')
  add(access === 'admin', 'forbidden')
  add(access === 'admin' || access === 'user', 'user_disabled')
  // The percent-encoding of a path can be invalid.
  add(params !== undefined, 'bad_request', 'not_found', 'validation_failed')
  add(query !== undefined, 'validation_failed')
  add(body !== undefined, 'bad_request', 'payload_too_large', 'unsupported_media_type', 'validation_failed')
  add(requestHeaders.includes('If-Match'), 'bad_request', 'precondition_failed')
  add(requestHeaders.includes('Idempotency-Key'), 'bad_request', 'conflict', 'idempotency_key_reused')
  add(operation !== undefined, 'quota_exceeded')
  return ERROR_CODES.filter((code) => codes.has(code))
}

/** A schema with a name, by which generated clients know its type. A name that it has stays. */
export function named(schema: z.ZodType, id: string): z.ZodType {
  return schema.meta()?.id === undefined ? schema.meta({ ...schema.meta(), id }) : schema
}

/** `source_rate_limited` to `SourceRateLimited`, `upsertMusic` to `UpsertMusic`. */
export function pascal(name: string): string {
  return name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase())
}
