import { createHash } from 'node:crypto'
import { type RequestHandler, Router } from 'express'
import helmet from 'helmet'
import type { Addresses } from '../../addresses.ts'
import { languageOf } from '../../pages/language.ts'
import type { Extra } from '../extra.ts'
import { frontHtml, STYLE } from './front-html.ts'

/** Pages that describe the services to people, at the services' addresses. */
export const pages: Extra = { begin: () => ({ pages: frontPage }) }

/** The page runs nothing and loads nothing; its only style is this one. */
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
 * without it: only clients that prefer HTML to JSON get the page.
 *
 * @param addresses where clients find the services; called each time
 */
function frontPage(service: keyof Addresses, addresses: () => Addresses): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true })
  router.get('/', (req, res, next) => {
    res.vary('Accept')
    // The first wins where a client accepts both equally, such as with `*/*`.
    if (req.accepts(['json', 'html']) !== 'html') return next()
    policy(req, res, () => {
      res.vary('Accept-Language').set('Cache-Control', 'no-cache').type('html')
      res.send(frontHtml(service, addresses(), languageOf(req)))
    })
  })
  return router
}
