import packageJson from '../../package.json' with { type: 'json' }
import type { Route } from '../http/route.ts'
import type { GatewayPolicy } from '../quota/policy.ts'
import { listOf, windowText } from '../quota/policy-words.ts'
import { withOpenApi } from './routes.ts'

const descriptionOf = ({
  layers,
  windows,
  categories,
}: GatewayPolicy): string => `Stores players' scores, and meters every request against the quotas ${listOf(
  layers.map(({ scope }) => scope),
  'and',
)}, in windows
of ${windows.map(windowText).join(', ')}.

**Credential.** \`Authorization: Bearer\` with a JWT or a gateway token, which begins with \`gw_\`. Credentials of the
other services do not work here.

**Quota.** An operation costs tokens of its category, ${listOf(categories)}; one request has one price, whatever the length
of its list. Too few tokens left: 429 with \`Retry-After\`. Wait as long as it says; do not poll. A request that fails
costs nothing. \`GET /me/quota\` is free.

**Order of checks.** Credential (401, 403), path and method (404, 405), body (413, 415, 400), content (422), quota (429),
then the work. Unknown members of a body are ignored, unless its schema says otherwise.`

/** The gateway's routes and the document that describes them. */
export function gatewayRoutesWithDocument(
  serverUrl: () => string,
  policy: GatewayPolicy,
  routes: readonly Route[],
): Route[] {
  return withOpenApi({
    title: 'Score gateway',
    version: packageJson.version,
    description: descriptionOf(policy),
    routes,
    policy,
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
