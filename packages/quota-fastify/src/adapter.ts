import type { HttpAdapter } from '@scoregw/quota/http'
import {
  ANSWER_HANDLERS,
  answerHandlerChecks,
  fastifyProxyFault,
  oneOf,
  optional,
  textLike,
} from '@scoregw/quota/internal'
import type { FastifyRequest } from 'fastify'

/** Reads requests of Fastify. */
export const FASTIFY: HttpAdapter<FastifyRequest> = {
  name: 'quotaFastify()',
  method: ({ method }) => method,
  languages: ({ headers }) => headers['accept-language'],
  address: ({ ip }) => ip,
  connection: ({ raw }) => raw,
  proxyFault: fastifyProxyFault,
  own: () => ({
    ...answerHandlerChecks(),
    requestPropertyName: optional(textLike(/./, 'a name')),
    hook: optional(oneOf('onRequest', 'preParsing', 'preValidation', 'preHandler')),
  }),
  ownOfRoutes: ANSWER_HANDLERS,
}
