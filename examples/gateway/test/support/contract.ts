import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { type Json, mapSchema } from './json-schema.ts'

/** An answer as it came. */
export interface Exchange {
  readonly method: string
  /** With or without a query. */
  readonly path: string
  readonly status: number
  readonly headers: Headers
  /** The parsed body of JSON, else the text; `undefined`: none. */
  readonly body: unknown
}

interface Content {
  readonly description?: string
  readonly headers?: Record<string, { readonly required?: boolean; readonly $ref?: string }>
  readonly content?: Record<string, unknown>
  readonly $ref?: string
}
type Item = Record<string, { readonly responses: Record<string, Content> }>
interface Document {
  readonly paths: Record<string, Item>
  readonly components: {
    readonly schemas: Record<string, Json>
    readonly responses: Record<string, Content>
    readonly headers: Record<string, { readonly required?: boolean }>
  }
}

/** Fields that mean something to clients: an answer that has one must say so in the document. */
const CHECKED_FIELDS = ['ETag', 'Location', 'Retry-After', 'X-Quota-Reset', 'WWW-Authenticate', 'Idempotency-Replayed']
/** What a path or a method that is not in the document is answered with. */
const OUTSIDE: Readonly<Record<number, readonly string[]>> = {
  401: ['unauthorized'],
  403: ['forbidden', 'user_disabled'],
  503: ['shutting_down', 'overloaded'],
}

/** What a service promises, and whether its answers keep to it. Schemas are compiled when first needed. */
export class Contract {
  readonly #document: Document
  readonly #ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: true })
  readonly #validators = new Map<string, ValidateFunction>()
  readonly #templates: readonly (readonly [RegExp, string])[]

  constructor(document: unknown) {
    this.#document = strict(document as Document)
    addFormats.default(this.#ajv)
    this.#ajv.addSchema(this.#document, 'document')
    this.#templates = Object.keys(this.#document.paths)
      .sort((a, b) => Number(a.includes('{')) - Number(b.includes('{')))
      .map((path) => [new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`), path])
  }

  /** @throws {Error} when the document does not describe the answer */
  check(exchange: Exchange): void {
    const fault = this.#faultOf(exchange)
    if (fault === undefined) return
    const { method, path, status, body } = exchange
    throw new Error(
      `${method} ${path} -> ${status}: not as the document says: ${fault}\n${JSON.stringify(body)?.slice(0, 2_000)}`,
    )
  }

  #faultOf(exchange: Exchange): string | undefined {
    const { method, status } = exchange
    const path = this.#templateOf(exchange.path)
    if (path === undefined) return this.#outside(exchange, { ...OUTSIDE, 400: ['bad_request'], 404: ['not_found'] })
    const item = this.#document.paths[path] as Item
    if (method === 'OPTIONS' && status === 204) return undefined
    const known = method === 'HEAD' ? 'get' : method.toLowerCase()
    const operation = item[known]
    if (operation === undefined) return this.#wrongMethod(exchange, item)
    const response = operation.responses[status]
    if (response === undefined) return `the operation has no answer ${status}`
    const [pointer, content] =
      response.$ref === undefined
        ? [`/paths/${escaped(path)}/${known}/responses/${status}`, response]
        : [response.$ref.slice(1), this.#document.components.responses[response.$ref.split('/').at(-1) ?? ''] ?? {}]
    return this.#fieldFault(exchange, content) ?? this.#bodyFault(exchange, content, pointer)
  }

  #templateOf(path: string): string | undefined {
    const [bare = ''] = path.split('?')
    return this.#templates.find(([pattern]) => pattern.test(bare))?.[1]
  }

  #wrongMethod(exchange: Exchange, item: Item): string | undefined {
    const fault = this.#outside(exchange, { ...OUTSIDE, 405: ['method_not_allowed'] })
    if (fault !== undefined || exchange.status !== 405) return fault
    const methods = Object.keys(item).map((name) => name.toUpperCase())
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort().join(', ')
    return exchange.headers.get('Allow') === allow ? undefined : `Allow is not ${allow}`
  }

  #outside({ method, status, body }: Exchange, codes: Readonly<Record<number, readonly string[]>>): string | undefined {
    if (codes[status] === undefined) return 'no such operation'
    if (method === 'HEAD') return undefined
    const isRight = this.#validator('/components/schemas/Error')
    if (!isRight(body)) return this.#ajv.errorsText(isRight.errors)
    const { error } = body as { readonly error: string }
    return codes[status].includes(error) ? undefined : `no such error: ${error}`
  }

  #fieldFault({ headers }: Exchange, { headers: documented = {} }: Content): string | undefined {
    const fields = Object.entries(documented).map(([name, field]) => {
      const { required } = field.$ref === undefined ? field : (this.#document.components.headers[name] ?? field)
      return { name, required }
    })
    const missing = fields.find(({ name, required }) => required === true && !headers.has(name))
    if (missing !== undefined) return `the field ${missing.name} is missing`
    const undocumented = CHECKED_FIELDS.find((name) => headers.has(name) && documented[name] === undefined)
    return undocumented === undefined ? undefined : `the field ${undocumented} is not documented`
  }

  #bodyFault({ method, headers, body }: Exchange, { content }: Content, pointer: string): string | undefined {
    if (method === 'HEAD') return body === undefined ? undefined : 'a body'
    if (content === undefined) return body === undefined ? undefined : 'a body where there is none'
    const [type = ''] = (headers.get('Content-Type') ?? '').split(';')
    if (content[type] === undefined) return `the media type is ${type}`
    const isRight = this.#validator(`${pointer}/content/${escaped(type)}/schema`)
    if (!isRight(body)) return this.#ajv.errorsText(isRight.errors)
    const { requestId } = body as { readonly requestId?: unknown }
    if (requestId === undefined || requestId === headers.get('X-Request-Id')) return undefined
    return 'the request id of the body is not the one of the head'
  }

  #validator(pointer: string): ValidateFunction {
    const known = this.#validators.get(pointer)
    if (known !== undefined) return known
    const validator = this.#ajv.compile({ $ref: `document#${pointer}` })
    this.#validators.set(pointer, validator)
    return validator
  }
}

/** Answers may have no member that the document does not name: clients may not count on that, tests do. */
function strict(document: Document): Document {
  const closed = (schema: Json): Json =>
    'properties' in schema && !('additionalProperties' in schema) ? { ...schema, additionalProperties: false } : schema
  const schemas = Object.entries(document.components.schemas).map(([name, each]) => [name, mapSchema(each, closed)])
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(schemas) } }
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}
