import type { Decision } from '@scoregw/quota'
import type { HttpAdapter, NodeRequest, NodeResponse } from '@scoregw/quota/http'
import { expressProxyFault, fastifyProxyFault, type ProxyFault } from '@scoregw/quota/internal'

/** The properties that Express and Fastify requests have in common. */
export interface NestRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The caller's network address. */
  readonly ip?: string | undefined
}

/** Charges a request in the transaction of its work. */
export type ChargeInTransaction = (transaction: unknown) => Promise<Decision | undefined>

/** Reads requests of Nest, on either platform. */
export const NEST: HttpAdapter<NestRequest> = {
  name: 'QuotaModule',
  method: ({ method }) => method,
  languages: ({ headers }) => headers['accept-language'] as string | undefined,
  address: ({ ip }) => ip,
  connection: (request) => rawOf<NodeRequest>(request),
  proxyFault,
}

function proxyFault(request: NestRequest): ProxyFault | undefined {
  if (isOfFastify(request)) return fastifyProxyFault(request)
  return isOfExpress(request) ? expressProxyFault(request) : undefined
}

function isOfFastify(request: object): request is Parameters<typeof fastifyProxyFault>[0] {
  return 'server' in request && 'raw' in request
}

function isOfExpress(request: object): request is Parameters<typeof expressProxyFault>[0] {
  return 'app' in request
}

/** Returns Node's own message. A Fastify message contains it. An Express message is one itself. */
export function rawOf<Message extends NodeRequest | NodeResponse>(message: object): Message {
  return (message as { readonly raw?: Message }).raw ?? (message as Message)
}
