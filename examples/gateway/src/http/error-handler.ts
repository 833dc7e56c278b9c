import { QuotaError } from '@scoregw/quota'
import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express'
import type { Logger } from '../log/logger.ts'
import { HttpError } from './http-error.ts'
import { contextOf } from './request-context.ts'

/** Seconds after which a client may try again when the quota's store is away. */
const UNAVAILABLE_RETRY_SECONDS = 5

/** Turns whatever a handler threw into `{ error, msg, requestId, details? }`; what nobody foresaw is logged, never shown. */
export function errorHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, req: Request, res: Response, next: NextFunction): void => {
    const known = toHttpError(error)
    const { id: requestId } = contextOf(req)
    if (known.status >= 500 && known.code !== 'shutting_down') {
      logger.error({ err: error, requestId }, 'request failed')
    }
    if (res.headersSent) {
      next(error)
      return
    }
    const { status, code, message: msg, details, headers } = known
    res.set(headers).status(status)
    res.json({ error: code, msg, requestId, ...(details === undefined ? {} : { details }) })
  }
}

function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof QuotaError && error.code === 'quota_unavailable') {
    const headers = { 'Retry-After': String(UNAVAILABLE_RETRY_SECONDS) }
    return new HttpError('quota_unavailable', 'The quota cannot be asked right now. Try again.', { headers })
  }
  // Express reports a path with broken percent-encoding as an error with a status.
  if (error instanceof URIError) return new HttpError('bad_request', 'The path is not valid percent-encoding.')
  return new HttpError('internal_error', 'Something went wrong on our side. The request id tells us what.')
}
