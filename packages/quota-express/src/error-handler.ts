import type { ErrorRequestHandler } from 'express'
import { newestOf } from './metered-request.ts'

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
    const cancelled: Promise<void>[] = []
    for (let metered = newestOf(req); metered !== undefined; metered = metered.previous)
      cancelled.push(metered.cancel())
    if (cancelled.length === 0) {
      next(error)
      return
    }
    // A cancel that fails was told to the logger; the error at hand is what the caller must hear.
    Promise.allSettled(cancelled).then(() => next(error), next)
  }
}
