import * as z from 'zod'
import type { ErrorCode } from '../http/http-error.ts'
import type { Route } from '../http/route.ts'
import { quotaExceeded } from '../quota/documents.ts'
import { errorsOf, meaningOf } from './errors.ts'
import { answerHeader, optionalAnswerHeader } from './headers.ts'
import { type Json, pascal, type Schemas } from './schemas.ts'

/** Any response to a metered request may have them. */
const RATE_LIMIT_HEADERS = ['RateLimit', 'RateLimit-Policy']
/** Fields that an error always has. */
const REQUIRED_WITH: Partial<Readonly<Record<ErrorCode, string>>> = {
  unauthorized: 'WWW-Authenticate',
  player_busy: 'Retry-After',
  quota_unavailable: 'Retry-After',
  overloaded: 'Retry-After',
  shutting_down: 'Retry-After',
}
const OPTIONAL_WITH: Partial<Readonly<Record<ErrorCode, string>>> = {
  precondition_failed: 'ETag',
  conflict: 'Retry-After',
  sync_in_progress: 'Retry-After',
  source_rate_limited: 'Retry-After',
  source_error: 'Retry-After',
}

/** The responses of a document. Those that several operations share are written once. */
export class Responses {
  readonly #schemas: Schemas
  readonly #errorSchema: z.ZodType
  readonly #named = new Map<string, Json>()
  readonly #headers = new Map<string, Json>()

  constructor(schemas: Schemas, errorSchema: z.ZodType) {
    this.#schemas = schemas
    this.#errorSchema = errorSchema
  }

  /** Returns all responses of a route, by status. */
  of(route: Route): Json {
    const errors = [...errorsOf(route)].map(([status, codes]) => {
      // A refusal has its own body.
      const isRefusal = status === 429 && route.operation !== undefined
      return [status, isRefusal ? this.#refusal(codes) : this.#error(codes)] as const
    })
    return Object.fromEntries([...this.#successes(route), ...errors])
  }

  all(): Record<string, Json> {
    return sorted(this.#named)
  }

  headers(): Record<string, Json> {
    return sorted(this.#headers)
  }

  #successes(route: Route): (readonly [number, Json])[] {
    const { docs, answer, answerType = 'application/json', operation } = route
    const isEmpty = answer instanceof z.ZodUndefined
    const rateLimits = operation === undefined ? [] : RATE_LIMIT_HEADERS
    const headers = this.#fields('X-Request-Id', ...(route.answerHeaders ?? []), ...rateLimits)
    const { statuses = [isEmpty ? 204 : 200] } = docs
    return statuses.map((status) => {
      const description = SUCCESSES[status] ?? 'Done.'
      if (isEmpty) return [status, { description, headers }] as const
      const schema = this.#schemas.named(answer, `${pascal(docs.id)}Answer`, 'output')
      return [status, { description, headers, content: { [answerType]: { schema } } }] as const
    })
  }

  #error(codes: readonly ErrorCode[]): Json {
    const name = codes.map(pascal).join('Or')
    if (this.#named.has(name)) return referenceTo(name)
    const required = fieldsOf(REQUIRED_WITH, codes, 'every')
    const optional = [...fieldsOf(OPTIONAL_WITH, codes, 'some'), ...fieldsOf(REQUIRED_WITH, codes, 'some')].filter(
      (name) => !required.includes(name),
    )
    return this.#put(name, {
      description: describedBy(codes),
      headers: {
        ...this.#fields('X-Request-Id', ...required),
        ...Object.fromEntries(optional.map((name) => [name, optionalAnswerHeader(name)])),
      },
      content: { 'application/json': { schema: this.#errorBody(codes) } },
    })
  }

  /** The body of an error. If it has the member `error`, its values are limited to these codes. */
  #errorBody(codes: readonly ErrorCode[]): Json {
    const any = this.#schemas.named(this.#errorSchema, 'Error', 'output')
    const hasCode = this.#errorSchema instanceof z.ZodObject && 'error' in this.#errorSchema.shape
    if (!hasCode) return any
    return {
      allOf: [any, { type: 'object', properties: { error: { type: 'string', enum: codes } }, required: ['error'] }],
    }
  }

  /** A refusal by a quota, whose body is the specification's. */
  #refusal(codes: readonly ErrorCode[]): Json {
    const schema = this.#schemas.named(quotaExceeded, 'QuotaExceeded', 'output')
    return this.#put(codes.map(pascal).join('Or'), {
      description: describedBy(codes),
      headers: this.#fields('X-Request-Id', 'Retry-After', 'X-Quota-Reset', ...RATE_LIMIT_HEADERS),
      content: { 'application/json': { schema } },
    })
  }

  /** References to header fields. */
  #fields(...names: string[]): Json {
    for (const name of names) this.#headers.set(name, answerHeader(name))
    return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
  }

  #put(name: string, response: Json): Json {
    this.#named.set(name, response)
    return referenceTo(name)
  }
}

function describedBy(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `\`${code}\`: ${meaningOf(code)}`).join('\n\n')
}

function referenceTo(name: string): Json {
  return { $ref: `#/components/responses/${name}` }
}

function sorted(named: ReadonlyMap<string, Json>): Record<string, Json> {
  return Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1)))
}

const SUCCESSES: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted, and in progress.',
  204: 'Done. The response has no body.',
}

/** The fields that belong to every one of the codes, or to some. */
function fieldsOf(
  table: Partial<Readonly<Record<ErrorCode, string>>>,
  codes: readonly ErrorCode[],
  share: 'every' | 'some',
): string[] {
  const fields = new Set(codes.flatMap((code) => table[code] ?? []))
  return [...fields].filter((field) => codes[share]((code) => table[code] === field))
}
