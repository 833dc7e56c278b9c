import { ANSWER_HANDLERS, answerHandlerChecks, type HttpAdapter, type ProxyFault } from '@scoregw/quota/http'
import { optional, textLike } from '@scoregw/quota/options'
import type { Request } from 'express'

/** Reads requests of Express. */
export const EXPRESS: HttpAdapter<Request> = {
  name: 'quotaMiddleware()',
  method: ({ method }) => method,
  languages: ({ headers }) => headers['accept-language'],
  address: ({ ip }) => ip,
  connection: (req) => req,
  proxyFault,
  own: () => ({ ...answerHandlerChecks(), requestPropertyName: optional(textLike(/./, 'a name')) }),
  ownOfRoutes: ANSWER_HANDLERS,
}

function proxyFault(req: Request): ProxyFault | undefined {
  const trusted: unknown = req.app.get('trust proxy')
  if (trusted === true) {
    const message = "'trust proxy' is true: any client can choose its address; name the proxies or their number"
    return { code: 'permissive_trust_proxy', message }
  }
  if (trusted !== false || req.headers['x-forwarded-for'] === undefined) return undefined
  const message =
    "requests have X-Forwarded-For, but 'trust proxy' is false: behind a proxy all callers share its address"
  return { code: 'untrusted_forwarded_for', message }
}
