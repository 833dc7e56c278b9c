import * as z from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import { type Route, route } from '../http/route.ts'
import { type DocumentOptions, openApiDocument } from './document.ts'
import type { Json } from './schemas.ts'

interface OpenApiOptions extends Omit<DocumentOptions, 'serverUrl'> {
  /** Called for each document, because the URL may change until all services listen. */
  serverUrl(): string
}

/** Adds the free and public route `GET /openapi.json`, which describes all routes and itself. */
export function withOpenApi(options: OpenApiOptions): Route[] {
  const { serverUrl } = options
  let document: Promise<Json> | undefined
  const routes: Route[] = [
    ...options.routes,
    documentRoute(async () => {
      document ??= openApiDocument({ ...options, routes, serverUrl: serverUrl() })
      return { ...(await document), openapi: '3.1.0', servers: [{ url: serverUrl() }] }
    }),
  ]
  return routes
}

function documentRoute(document: () => Promise<{ readonly openapi: string }>): Route {
  return route({
    method: 'get',
    path: '/openapi.json',
    docs: {
      id: 'openApi',
      tag: 'Reference',
      summary: 'This document',
      description: 'OpenAPI 3.1, for reference pages and client generators.',
    },
    access: 'public',
    answer: z.looseObject({ openapi: z.string() }),
    async handle() {
      return { body: await document(), headers: { 'Cache-Control': 'no-cache' } }
    },
  })
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

/** Adds the route with the gateway's document. */
export function gatewayRoutesWithDocument(serverUrl: () => string, routes: readonly Route[]): Route[] {
  return withOpenApi({
    title: 'Score gateway',
    version: packageJson.version,
    description: DESCRIPTION,
    routes,
    securitySchemes: {
      bearer: {
        type: 'http',
        scheme: 'bearer',
        description: 'A JWT, or a gateway token: it begins with `gw_`.',
      },
    },
    serverUrl,
  })
}
