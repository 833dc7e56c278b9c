import * as z from 'zod'
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverride,
  type ZodOpenApiPathsObject,
} from 'zod-openapi'
import packageJson from '../../package.json' with { type: 'json' }
import { publicRoute, type Route } from '../http/route.ts'
import { policy } from '../quota/policy.ts'
import { requestFields } from './headers.ts'
import { ErrorResponses, errorSchema, named, pascal, successesOf } from './responses.ts'

/** What a service's document says besides its routes. */
export interface About {
  readonly title: string
  /** The purpose of the service, as Markdown. */
  readonly description: string
  /** Credentials by name. Every route that isn't public accepts any of them. */
  readonly securitySchemes: NonNullable<NonNullable<ZodOpenApiObject['components']>['securitySchemes']>
  /** The body of errors. @default the gateway's */
  readonly errorBody?: z.ZodType | undefined
}

/**
 * Adds the free and public route `GET /openapi.json`, which describes all routes and itself. The document is made when it
 * is first asked for: most starts are not followed by a look at it.
 *
 * @param serverUrl returns the service's URL. Called for each answer, because it may change until all services listen.
 */
export function withOpenApi(about: About, serverUrl: () => string, others: readonly Route[]): Route[] {
  let document: ReturnType<typeof documentOf> | undefined
  const routes: Route[] = [
    ...others,
    publicRoute('GET /openapi.json', {
      id: 'openApi',
      tag: 'Reference',
      summary: 'This document',
      description: 'OpenAPI 3.1, for reference pages and client generators.',
      answer: z.looseObject({ openapi: z.string() }),
      handle() {
        document ??= documentOf(about, routes)
        const body = { ...document, servers: [{ url: serverUrl() }] }
        return { body, headers: { 'Cache-Control': 'no-cache' } }
      },
    }),
  ]
  return routes
}

/** @throws {Error} when a tag has no description, or two schemas have one name */
function documentOf(about: About, routes: readonly Route[]) {
  const { title, description, securitySchemes, errorBody = errorSchema } = about
  const errors = new ErrorResponses(errorBody)
  const paths: ZodOpenApiPathsObject = {}
  for (const each of routes) {
    const path = each.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [each.method]: operationOf(each, errors) }
  }
  return createDocument(
    {
      openapi: '3.1.0',
      info: {
        title,
        version: packageJson.version,
        description,
        contact: { name: 'Source and issues', url: 'https://github.com/scoregw/quota' },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      tags: tagsOf(routes),
      security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
      paths,
      components: { securitySchemes, schemas: { Error: errorBody } },
    },
    { override: tidy },
  )
}

/** Objects that aren't strict may get new members in later versions. The bounds of whole numbers say nothing. */
const tidy: ZodOpenApiOverride = ({ zodSchema, jsonSchema }) => {
  const { def } = zodSchema._zod
  if (def.type === 'object' && def.catchall === undefined) Reflect.deleteProperty(jsonSchema, 'additionalProperties')
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) Reflect.deleteProperty(jsonSchema, 'maximum')
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) Reflect.deleteProperty(jsonSchema, 'minimum')
  if (jsonSchema.format === 'date-time') Reflect.deleteProperty(jsonSchema, 'pattern')
}

function operationOf(each: Route, errors: ErrorResponses): ZodOpenApiOperationObject {
  const { id, tag, summary, description, errors: listed, access, body, params, query, requestHeaders = [] } = each
  const prices = pricesOf(each)
  const header = requestFields(requestHeaders, listed?.includes('precondition_required') === true)
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, costOf(each)].filter((text) => text !== undefined).join('\n\n'),
    ...(access === 'public' ? { security: [] } : {}),
    // For programs: the default prices of all operations that the route's requests can be.
    ...(prices.length === 0 ? {} : { 'x-quota': prices }),
    requestParams: { ...(params && { path: params }), ...(query && { query }), header },
    ...(body && { requestBody: requestBodyOf(each, body) }),
    responses: { ...successesOf(each), ...errors.of(each) },
  }
}

function requestBodyOf({ id, example: given, bodyForm }: Route, body: z.ZodType) {
  const isEmptyEnough = body.safeParse({}).success
  const example: unknown = given ?? (isEmptyEnough ? {} : undefined)
  const schema = named(bodyForm ?? body, `${pascal(id)}Body`)
  const json = example === undefined ? { schema } : { schema, example }
  return { required: !isEmptyEnough, content: { 'application/json': json } }
}

function pricesOf({ operation, operations = [] }: Route) {
  const names = typeof operation === 'string' ? [operation] : operations
  return Object.entries(policy.operations).flatMap(([name, { category, cost }]) =>
    names.includes(name) ? [{ operation: name, category, cost }] : [],
  )
}

function costOf(each: Route): string {
  if (each.operation === undefined) return 'Free.'
  const prices = pricesOf(each)
  const amount = prices.map(({ cost }) => cost).join(' or ')
  return `Costs ${amount} **${prices[0]?.category}** tokens, unless the administrators set other prices; nothing if it fails.`
}

function tagsOf(routes: readonly Route[]) {
  const used = new Set(routes.map(({ tag }) => tag))
  const unknown = [...used].filter((name) => !Object.hasOwn(TAGS, name))
  if (unknown.length > 0) throw new Error(`openapi/document.ts has no description of ${unknown.join(', ')}`)
  return Object.entries(TAGS).flatMap(([name, description]) => (used.has(name) ? [{ name, description }] : []))
}

/** The topics of operations, in the order of the reference. */
const TAGS: Readonly<Record<string, string>> = {
  Score: 'A score belongs to a chart, `musicId` and `level`. Write, delete and read scores.',
  User: "A player's own data, items and gates.",
  Ticket: 'Buy, list and clear tickets. The balance is in credits.',
  Source: 'Import scores from other score services.',
  Sync: "Bots that report players' scores.",
  Chart: 'The table of charts.',
  Quota: 'Used and remaining tokens of the caller. Free.',
  Health: 'Whether the service is up. Free and public.',
  Reference: 'This document.',
  Administration: "For users with the administrator's role.",
}

const DESCRIPTION = `Stores players' scores, and meters every request against the quotas \`Personal\` and \`Site\`, in windows
of 1 hour, 5 hours and 1 day.

**Credential.** \`Authorization: Bearer\` with a JWT or a gateway token, which begins with \`gw_\`. Credentials of the
other services do not work here.

**Quota.** An operation costs tokens of its category, \`read\` or \`write\`; a request has one price for a list of any
length. Too few tokens left: 429 with \`Retry-After\`. Wait as long as it says; do not poll. A request that fails
costs nothing. \`GET /me/quota\` is free.

**Order of checks.** Credential (401, 403), path and method (404, 405), body (413, 415, 400), content (422), quota (429),
then the work. Unknown members of a body are ignored, unless its schema says otherwise.`

/** Of the gateway. The other services have theirs in their rooms. */
export const ABOUT_GATEWAY: About = {
  title: 'Score gateway',
  description: DESCRIPTION,
  securitySchemes: {
    bearer: { type: 'http', scheme: 'bearer', description: 'A JWT, or a gateway token: it begins with `gw_`.' },
  },
}
