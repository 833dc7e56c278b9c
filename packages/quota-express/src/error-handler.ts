import { Exchange } from '@scoregw/quota/http'
import type { ErrorRequestHandler } from 'express'
import { answerRefusal } from './in-transaction.ts'

/**
 * Makes error-handling middleware. Mount it after the routes. It settles requests whose handler failed, even if the
 * client has disconnected. It refunds them, or charges them with `settle: 'failures'`. Settled requests stay as they
 * are. Then it passes the error to the next handler. A refusal of `metered.charge()` is answered here.
 *
 * @example
 * app.use(quotaErrorHandler())
 */
export function quotaErrorHandler(): ErrorRequestHandler {
  return function quotaErrors(error, req, _res, next) {
    if (answerRefusal(error, next)) return
    const exchange = Exchange.find(req)
    if (exchange === undefined) next(error)
    else exchange.fail().then(() => next(error), next)
  }
}
