import { QUOTA_HEADER_NAMES } from '@scoregw/quota/http'
import cors from 'cors'
import { type RequestHandler, Router } from 'express'

/** Methods that other origins' pages may use, besides those that any page may. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const REQUEST_HEADERS = [
  'Authorization',
  'Bot-Token',
  'X-API-Key',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'Idempotency-Key',
  'X-Request-Id',
]
/** Header fields of a response that they may read, besides those that any page may. */
const ANSWER_HEADERS = [...QUOTA_HEADER_NAMES, 'ETag', 'X-Request-Id', 'Idempotency-Replayed']
/** How long a browser may cache a preflight, in seconds. */
const MAX_AGE_SECONDS = 600

/**
 * Lets pages of the given origins call the service, without cookies. Other origins get no CORS headers. The origins are
 * read for each request.
 */
export function crossOrigin(origins: () => readonly string[]): RequestHandler {
  return Router()
    .use((_req, res, next) => {
      if (origins().length > 0) res.vary('Origin')
      next()
    })
    .use(
      cors((req, callback) => {
        const given = req.headers.origin
        const isListed = given !== undefined && origins().includes(given)
        callback(null, {
          origin: isListed,
          methods: METHODS,
          allowedHeaders: REQUEST_HEADERS,
          exposedHeaders: ANSWER_HEADERS,
          maxAge: MAX_AGE_SECONDS,
        })
      }),
    )
}
