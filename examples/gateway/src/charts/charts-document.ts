import * as z from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import type { Route } from '../http/route.ts'
import { withOpenApi } from '../openapi/routes.ts'

const DESCRIPTION = `The table of charts, for browsing: titles, difficulties, note counts, and a picture of each.

**Credential.** \`X-API-Key\` with a key of this service, which begins with \`mk_\`. Credentials of the other services do not
work here.`

const errorBody = z.object({ message: z.string().describe('What went wrong.') }).meta({ id: 'Error' })

/** The chart preview's routes and the document that describes them. */
export function chartRoutesWithDocument(serverUrl: () => string, routes: readonly Route[]): Route[] {
  return withOpenApi({
    title: 'Chart preview',
    version: packageJson.version,
    description: DESCRIPTION,
    routes,
    securitySchemes: {
      key: {
        type: 'apiKey',
        in: 'header',
        name: 'X-API-Key',
        description: 'A key of this service: it begins with `mk_`.',
      },
    },
    errorBody,
    serverUrl,
  })
}
