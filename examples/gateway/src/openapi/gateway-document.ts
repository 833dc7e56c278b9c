import type { Route } from '../http/route.ts'
import { withOpenApi } from './document.ts'

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
