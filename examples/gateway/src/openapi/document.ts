import { setImmediate as turn } from 'node:timers/promises'
import type * as z from 'zod'
import type { Route } from '../http/route.ts'
import { policy } from '../quota/policy.ts'
import { errorSchema } from './errors.ts'
import { operationOf, templateOf } from './operations.ts'
import { Responses } from './responses.ts'
import { type Json, Schemas } from './schemas.ts'

export interface DocumentOptions {
  readonly title: string
  readonly version: string
  /** The purpose of the service, as Markdown. */
  readonly description: string
  /** The service's URL, without a trailing slash. */
  readonly serverUrl: string
  readonly routes: readonly Route[]
  /** Credentials by name. Every route that isn't public accepts any of them. */
  readonly securitySchemes: Readonly<Record<string, Json>>
  /**
   * The body of errors.
   *
   * @default the gateway's
   */
  readonly errorBody?: z.ZodType | undefined
}

/**
 * Builds an OpenAPI 3.1 document from the descriptions of a service's routes. It yields after each route, so that other
 * requests aren't blocked.
 *
 * @throws {Error} when a tag or a header field has no description, or two schemas have one name
 */
export async function openApiDocument(options: DocumentOptions): Promise<Json> {
  const { title, version, description, serverUrl, routes, securitySchemes } = options
  const schemas = new Schemas()
  const responses = new Responses(schemas, options.errorBody ?? errorSchema)
  const prices = policy.operations
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = templateOf(route.path)
    paths[path] = { ...paths[path], [route.method]: operationOf(route, { schemas, responses, prices }) }
    await turn()
  }
  return {
    openapi: '3.1.0',
    info: { title, version, description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: serverUrl }],
    tags: tagsOf(routes),
    security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    paths,
    components: {
      securitySchemes,
      schemas: schemas.all(),
      headers: responses.headers(),
      responses: responses.all(),
    },
  }
}

function tagsOf(routes: readonly Route[]): Json[] {
  const used = new Set(routes.map(({ docs }) => docs.tag))
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
