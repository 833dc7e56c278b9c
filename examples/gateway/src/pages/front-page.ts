import { createHash } from 'node:crypto'
import { type RequestHandler, Router } from 'express'
import helmet from 'helmet'
import type { Addresses } from '../addresses.ts'
import { frontHtml, STYLE } from './front-html.ts'
import { languageOf } from './language.ts'

/** The page runs nothing and loads nothing; its style stands in it, and is this one. */
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
 * A browser that requests a service's address gets a page that describes the service. Programs get the same answers as
 * without it: the page is for those who would rather have HTML than JSON.
 *
 * @param addresses where clients find the services; called each time
 */
export function frontPage(service: keyof Addresses, addresses: () => Addresses): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true })
  router.get('/', (req, res, next) => {
    res.vary('Accept')
    // Where both are as good, as for `*/*`, the first is meant.
    if (req.accepts(['json', 'html']) !== 'html') return next()
    policy(req, res, () => {
      res.vary('Accept-Language').set('Cache-Control', 'no-cache').type('html')
      res.send(frontHtml(service, addresses(), languageOf(req)))
    })
  })
  return router
}
