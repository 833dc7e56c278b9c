import { QuotaError } from '@scoregw/quota'
import { QuotaRefusal, quotaErrorHandler } from '@scoregw/quota-express'
import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express'
import { isDatabaseAway, isReferenceGone } from '../db/database-away.ts'
import { UserGone } from '../db/with-player.ts'
import type { Logger } from '../log/logger.ts'
import { noBearer } from './auth.ts'
import { HttpError } from './http-error.ts'
import { contextOf } from './request-context.ts'

/** When a client may retry after a store was unavailable, in seconds. */
const UNAVAILABLE_RETRY_SECONDS = 5

/** The body of an error response. */
export type ErrorBody = (error: HttpError, requestId: string) => object

/**
 * `{ error, msg, requestId, details?, source?, upstreamStatus?, retryAfterSeconds? }`. Absent members are left out of
 * the JSON.
 */
export const gatewayErrorBody: ErrorBody = (error, requestId) => {
  const { code, message: msg, details, source, upstreamStatus, retryAfterSeconds } = error
  return { error: code, msg, requestId, details, source, upstreamStatus, retryAfterSeconds }
}

export interface ErrorHandlerOptions {
  readonly logger: Logger
  readonly bodyOf: ErrorBody
}

/**
 * Turns an error of a handler into a response in three steps: classify the error, decide whether the request stays
 * charged, write the body. Unexpected errors are logged and never shown.
 */
export function errorHandlers(options: ErrorHandlerOptions): ErrorRequestHandler[] {
  return [naming, quotaErrorHandler(), answering(options)]
}

const naming: ErrorRequestHandler = (error, req, _res, next) => {
  // The next handler answers it.
  if (error instanceof QuotaRefusal) return next(error)
  const context = contextOf(req)
  // What a user's request stores refers to the user.
  const isUserGone = error instanceof UserGone || (context.user !== undefined && isReferenceGone(error))
  const known = isUserGone ? noBearer(false) : toHttpError(error)
  context.isForwardingFailed = known.isForwardingFailed
  context.errorCode = known.code
  next(known)
}

function answering({ logger, bodyOf }: ErrorHandlerOptions): ErrorRequestHandler {
  return (error: HttpError, req: Request, res: Response, next: NextFunction): void => {
    const { id: requestId } = contextOf(req)
    const { code, cause, source, status } = error
    // An outage causes one of these per request: log the reason, not the stack.
    if (code === 'quota_unavailable') logger.warn({ reason: reasonOf(error), requestId }, 'store unavailable')
    else if (source !== undefined) logger.warn({ reason: reasonOf(error), requestId }, 'source failed')
    else if (status >= 500 && code !== 'shutting_down')
      logger.error({ err: cause ?? error, requestId }, 'request failed')
    if (res.headersSent) {
      next(error)
      return
    }
    res.set(error.headers).status(status).json(bodyOf(error, requestId))
  }
}

function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof QuotaError && error.code === 'quota_unavailable') {
    const options = { retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS, cause: error }
    return new HttpError('quota_unavailable', 'The quota cannot be checked right now. Try again.', options)
  }
  if (isDatabaseAway(error)) {
    const options = { retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS, cause: error }
    return new HttpError('quota_unavailable', 'The database does not answer right now. Try again.', options)
  }
  // Express reports a path with broken percent-encoding as an error that has a status.
  if (error instanceof URIError) return new HttpError('bad_request', 'The path is not valid percent-encoding.')
  const msg = 'Something went wrong on our side. Quote the request id when you report it.'
  return new HttpError('internal_error', msg, { cause: error })
}

/** The messages of an error and of its causes. */
function reasonOf(error: Error): string {
  const { cause, message } = error
  if (!(cause instanceof Error)) return message
  const deeper = reasonOf(cause)
  return message.includes(deeper) ? message : `${message} (${deeper})`
}
