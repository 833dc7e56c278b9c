import type { HttpAdapter, NodeRequest, NodeResponse } from '@scoregw/quota/http'

/** The properties that Express and Fastify requests have in common. */
export interface NestRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The caller's network address. */
  readonly ip?: string | undefined
}

/** Reads requests of Nest, on either platform. */
export const NEST: HttpAdapter<NestRequest> = {
  name: 'QuotaModule',
  method: ({ method }) => method,
  languages: ({ headers }) => headers['accept-language'] as string | undefined,
  address: ({ ip }) => ip,
  connection: (request) => rawOf<NodeRequest>(request),
}

/** Returns Node's own message. A Fastify message contains it. An Express message is one itself. */
export function rawOf<Message extends NodeRequest | NodeResponse>(message: object): Message {
  return (message as { readonly raw?: Message }).raw ?? (message as Message)
}
