import type { HttpAdapter } from '@scoregw/quota/http'
import { ANSWER_HANDLERS, answerHandlerChecks, expressProxyFault, optional, textLike } from '@scoregw/quota/internal'
import type { Request } from 'express'

/** Reads requests of Express. */
export const EXPRESS: HttpAdapter<Request> = {
  name: 'quotaMiddleware()',
  method: ({ method }) => method,
  languages: ({ headers }) => headers['accept-language'],
  address: ({ ip }) => ip,
  connection: (req) => req,
  proxyFault: expressProxyFault,
  own: () => ({ ...answerHandlerChecks(), requestPropertyName: optional(textLike(/./, 'a name')) }),
  ownOfRoutes: ANSWER_HANDLERS,
}
