import type { RequestHandler } from 'express'
import { HttpError } from './http-error.ts'

/** Seconds after which another process should be there. */
const RETRY_SECONDS = 5

/** Turns requests away once the gateway is stopping: they came on connections that were open already. */
export function refusedWhenClosing(isClosing: () => boolean): RequestHandler {
  return (_req, res, next) => {
    if (!isClosing()) {
      next()
      return
    }
    res.set('Connection', 'close')
    throw new HttpError('shutting_down', 'The gateway is stopping. Try again.', { retryAfterSeconds: RETRY_SECONDS })
  }
}
