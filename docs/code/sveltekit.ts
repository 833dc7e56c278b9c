import { createQuota } from '@scoregw/quota'
import { quotaFetch } from '@scoregw/quota-fetch'

/**
 * The members of SvelteKit's event that this uses. In an app, use
 * `Handle` of `@sveltejs/kit`.
 */
interface Event {
  readonly request: Request
  readonly locals: { readonly user?: string }
  readonly getClientAddress: () => string
}
type Handle = (input: {
  event: Event
  resolve: (event: Event) => Response | Promise<Response>
}) => Promise<Response>

export const quota = createQuota({
  limits: {
    reads: { by: 'user', limit: 120, per: '1h', for: 'read' },
    writes: { by: 'user', limit: 60, per: '1h', for: 'write' },
  },
  operations: { read: {}, write: {} },
})
const metered = quotaFetch({
  quota,
  subject: (_request, event: Event) => event.locals.user,
  anonymous: 'ip',
  address: (_request, event: Event) => event.getClientAddress(),
  operation: ({ method }) => (method === 'GET' ? 'read' : 'write'),
})

// src/hooks.server.ts; behind another hook that sets locals.user:
// sequence(authenticate, handle)
export const handle: Handle = ({ event, resolve }) =>
  metered((_request: Request, given: Event) => resolve(given))(
    event.request,
    event,
  )
