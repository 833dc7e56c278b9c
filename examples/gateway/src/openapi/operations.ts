import type { OperationDefinition } from '@scoregw/quota/store'
import type * as z from 'zod'
import type { Route } from '../http/route.ts'
import { headerParameter } from './headers.ts'
import type { Responses } from './responses.ts'
import { type Json, pascal, type Schemas } from './schemas.ts'

export interface OperationParts {
  readonly schemas: Schemas
  readonly responses: Responses
  /** Categories and prices by operation. */
  readonly prices: Readonly<Record<string, OperationDefinition>>
}

/** Describes one route. */
export function operationOf(route: Route, deps: OperationParts): Json {
  const { docs, body, access } = route
  const parameters = parametersOf(route, deps.schemas)
  return {
    operationId: docs.id,
    tags: [docs.tag],
    summary: docs.summary,
    description: descriptionOf(route, deps.prices),
    ...(access === 'public' ? { security: [] } : {}),
    ...pricesOf(route, deps.prices),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBodyOf(route, body, deps.schemas) }),
    responses: deps.responses.of(route),
  }
}

/** Converts `/users/:id` to `/users/{id}`. */
export function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}')
}

function descriptionOf(route: Route, prices: OperationParts['prices']): string {
  const { description } = route.docs
  const cost = costOf(route, prices)
  return description === undefined ? cost : `${description}\n\n${cost}`
}

/** For programs: the default prices of all operations that the route's requests can be, depending on the body. */
function pricesOf({ docs, operation }: Route, prices: OperationParts['prices']): Json {
  if (operation === undefined) return {}
  const names = typeof operation === 'string' ? [operation] : (docs.operations ?? [])
  const known = names.flatMap((name) => {
    const price = prices[name]
    return price === undefined ? [] : [{ operation: name, category: price.category, cost: price.cost }]
  })
  return known.length === 0 ? {} : { 'x-quota': known }
}

function costOf({ docs, operation }: Route, prices: OperationParts['prices']): string {
  if (operation === undefined) return 'Free.'
  const names = typeof operation === 'string' ? [operation] : (docs.operations ?? [])
  const costs = names.flatMap((name) => prices[name] ?? [])
  const [first] = costs
  if (first === undefined) return 'The price depends on the body.'
  const amount = costs.map(({ cost }) => cost).join(' or ')
  return `Costs ${amount} **${first.category}** tokens, unless the administrators set other prices; nothing if it fails.`
}

function parametersOf(route: Route, schemas: Schemas): Json[] {
  const { params, query, requestHeaders = [], docs } = route
  const isMatchNeeded = docs.errors?.includes('precondition_required') === true
  return [
    ...fieldsOf(params, 'path', schemas),
    ...fieldsOf(query, 'query', schemas),
    ...requestHeaders.map((name) => headerParameter(name, name === 'If-Match' && isMatchNeeded)),
  ]
}

function fieldsOf(schema: z.ZodType | undefined, where: 'path' | 'query', schemas: Schemas): Json[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = schemas.inline(schema, 'input') as {
    readonly properties?: Readonly<Record<string, Json>>
    readonly required?: readonly string[]
  }
  return Object.entries(properties).map(([name, { description, ...json }]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: json,
  }))
}

function requestBodyOf({ docs }: Route, body: z.ZodType, schemas: Schemas): Json {
  const isEmptyEnough = body.safeParse({}).success
  const example = docs.example ?? (isEmptyEnough ? {} : undefined)
  return {
    required: !isEmptyEnough,
    content: {
      'application/json': {
        schema: schemas.named(docs.bodyForm ?? body, `${pascal(docs.id)}Body`, 'input'),
        ...(example === undefined ? {} : { example }),
      },
    },
  }
}
