import { Exchange } from '@scoregw/quota/http'
import type { ErrorRequestHandler } from 'express'

/**
 * Error-handling middleware to mount after the routes: a request that failed gets its tokens back, also when its caller
 * has hung up and no status will ever tell. What was settled already stays so. The error goes on to the next handler,
 * after a response that waits for its settlement has left.
 *
 * @example
 * app.use(quotaErrorHandler())
 */
export function quotaErrorHandler(): ErrorRequestHandler {
  return function quotaErrors(error, req, _res, next) {
    const exchange = Exchange.find(req)
    if (exchange === undefined) next(error)
    else exchange.fail().then(() => next(error), next)
  }
}
