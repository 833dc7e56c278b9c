import type { HttpAdapter, NodeRequest, NodeResponse } from '@scoregw/quota/http'

/** What requests of Express and Fastify have in common. */
export interface NestRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The caller's address. */
  readonly ip?: string | undefined
}

/** How a request of Nest is read, on either platform. */
export const NEST: HttpAdapter<NestRequest> = {
  name: 'QuotaModule',
  method: ({ method }) => method,
  languages: ({ headers }) => headers['accept-language'] as string | undefined,
  address: ({ ip }) => ip,
  connection: (request) => rawOf<NodeRequest>(request),
}

/** Node's own message: Fastify's messages contain it, Express' messages are it. */
export function rawOf<Message extends NodeRequest | NodeResponse>(message: object): Message {
  return (message as { readonly raw?: Message }).raw ?? (message as Message)
}
