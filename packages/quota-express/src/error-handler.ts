import { Exchange } from '@scoregw/quota/http'
import type { ErrorRequestHandler } from 'express'

/**
 * Makes error-handling middleware. Mount it after the routes. It settles requests whose handler failed, even if the
 * client has disconnected. It refunds them, or charges them with `settle: 'failures'`. Settled requests stay as they
 * are. Then it passes the error to the next handler.
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
