import type { HttpAdapter, ProxyFault } from '@scoregw/quota/http'
import { aFunction, oneOf, optional, textLike } from '@scoregw/quota/options'
import type { FastifyRequest } from 'fastify'

/** How a request of Fastify is read. */
export const FASTIFY: HttpAdapter<FastifyRequest> = {
  name: 'quotaFastify()',
  method: ({ method }) => method,
  languages: ({ headers }) => headers['accept-language'],
  address: ({ ip }) => ip,
  proxyFault,
  own: () => ({
    handler: optional(aFunction()),
    requestPropertyName: optional(textLike(/./, 'a name')),
    hook: optional(oneOf('onRequest', 'preParsing', 'preValidation', 'preHandler')),
  }),
  ownOfRoutes: ['handler'],
}

function proxyFault({ headers, ips }: FastifyRequest): ProxyFault | undefined {
  // `ips` is there where `trustProxy` is set.
  if (headers['x-forwarded-for'] === undefined || ips !== undefined) return undefined
  const message = 'X-Forwarded-For is there but trustProxy is not set: behind a proxy all callers share its address'
  return { code: 'untrusted_forwarded_for', message }
}
