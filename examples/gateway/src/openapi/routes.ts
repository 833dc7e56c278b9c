import * as z from 'zod'
import { type Route, route } from '../http/route.ts'
import { type DocumentOptions, openApiDocument } from './document.ts'
import type { Json } from './json-schema.ts'

export interface OpenApiOptions extends Omit<DocumentOptions, 'serverUrl'> {
  /** May change until every service listens: called each time. */
  serverUrl(): string
}

/** Routes, and one more that says what they are: `GET /openapi.json`, free and open to everybody. */
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
      description: 'OpenAPI 3.1, for reference pages and for generators of clients.',
    },
    access: 'public',
    answer: z.looseObject({ openapi: z.string() }),
    async handle() {
      return { body: await document(), headers: { 'Cache-Control': 'no-cache' } }
    },
  })
}
