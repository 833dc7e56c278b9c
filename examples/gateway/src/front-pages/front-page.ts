import { createHash } from 'node:crypto'
import { type RequestHandler, Router } from 'express'
import helmet from 'helmet'
import type { Addresses } from '../addresses.ts'
import { languageOf } from '../pages/language.ts'
import { frontHtml, STYLE } from './front-html.ts'

/** The page loads nothing and runs no scripts. Only its inline style is allowed. */
const policy: RequestHandler = helmet.contentSecurityPolicy({
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    styleSrc: [`'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`],
    imgSrc: ['data:'],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
})

/**
 * Serves a page about the service at its address to browsers. Clients get it only if they prefer HTML to JSON; for
 * programs nothing changes.
 *
 * @param addresses returns where clients find the services; called for each request
 */
export function frontPage(service: keyof Addresses, addresses: () => Addresses): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true })
  router.get('/', (req, res, next) => {
    res.vary('Accept')
    // If a client accepts both equally, as with `*/*`, the first one wins.
    if (req.accepts(['json', 'html']) !== 'html') return next()
    policy(req, res, () => {
      res.vary('Accept-Language').set('Cache-Control', 'no-cache').type('html')
      res.send(frontHtml(service, addresses(), languageOf(req)))
    })
  })
  return router
}
