import packageJson from '../../package.json' with { type: 'json' }
import type { Route } from '../http/route.ts'
import { withOpenApi } from '../openapi/routes.ts'
import { syncErrorSchema } from './sync-error.ts'

const DESCRIPTION = `Bots bring players' scores here, for any player by \`qq\`. An account of the gateway that is linked to
that \`qq\` has them at once; for others they are kept until an account is linked.

**Credential.** \`Bot-Token\`. Credentials of the other services do not work here.

**Chunks.** A full snapshot comes in chunks under one \`snapshot_id\`, the last of them with \`snapshot_final\`. Send a chunk
again, identical, after 429, 500, 502 to 504 or no answer: it is stored once.`

/** The routes of score sync and the document that describes them. */
export function syncRoutesWithDocument(serverUrl: () => string, routes: readonly Route[]): Route[] {
  return withOpenApi({
    title: 'Score sync',
    version: packageJson.version,
    description: DESCRIPTION,
    routes,
    errorBody: syncErrorSchema,
    securitySchemes: {
      botToken: { type: 'apiKey', in: 'header', name: 'Bot-Token', description: 'A token that administrators issue.' },
    },
    serverUrl,
  })
}
