import { QuotaError } from '@scoregw/quota'
import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express'
import { isDatabaseAway, isReferenceGone } from '../db/database-away.ts'
import { UserGone } from '../db/with-player.ts'
import type { Logger } from '../log/logger.ts'
import { noBearer } from './auth.ts'
import { type FailureLimit, FailuresExceeded } from './failure-limit.ts'
import { HttpError } from './http-error.ts'
import { contextOf } from './request-context.ts'

/** Seconds after which a client may try again when a store is away. */
const UNAVAILABLE_RETRY_SECONDS = 5

/** The body of an answer that is not a success. */
export type ErrorBody = (error: HttpError, requestId: string) => object

/** `{ error, msg, requestId, details?, source?, upstreamStatus?, retryAfterSeconds? }`: absent members are left out of the JSON. */
export const gatewayErrorBody: ErrorBody = (error, requestId) => {
  const { code, message: msg, details, source, upstreamStatus, retryAfterSeconds } = error
  return { error: code, msg, requestId, details, source, upstreamStatus, retryAfterSeconds }
}

export interface ErrorHandlerOptions {
  readonly logger: Logger
  /** Hears of every failure. */
  readonly failures: FailureLimit
  /** Called with the answer to a caller that is refused because too many of its requests have failed. */
  readonly onRefused: (req: Request, res: Response, error: FailuresExceeded) => void
  readonly bodyOf: ErrorBody
}

/** Turns whatever a handler threw into an answer; unexpected errors are logged, never shown. */
export function errorHandler({ logger, failures, onRefused, bodyOf }: ErrorHandlerOptions): ErrorRequestHandler {
  return (error: unknown, req: Request, res: Response, next: NextFunction): void => {
    const context = contextOf(req)
    // What a user's request stores refers to the user.
    const isUserGone = error instanceof UserGone || (context.user !== undefined && isReferenceGone(error))
    const known = isUserGone ? noBearer(false) : toHttpError(error)
    const { id: requestId } = context
    context.isForwardingFailed = known.isForwardingFailed
    context.errorCode = known.code
    failures.count(req, known.status)
    // In an outage there is one of these for every request: the reason, and no stack.
    if (known.code === 'quota_unavailable') logger.warn({ reason: reasonOf(known), requestId }, 'store unavailable')
    else if (known.source !== undefined) logger.warn({ reason: reasonOf(known), requestId }, 'source failed')
    else if (known.status >= 500 && known.code !== 'shutting_down') {
      logger.error({ err: error, requestId }, 'request failed')
    }
    if (res.headersSent) {
      next(error)
      return
    }
    res.set(known.headers).status(known.status).json(bodyOf(known, requestId))
    if (known instanceof FailuresExceeded) onRefused(req, res, known)
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
  // Express reports a path with broken percent-encoding as an error with a status.
  if (error instanceof URIError) return new HttpError('bad_request', 'The path is not valid percent-encoding.')
  return new HttpError('internal_error', 'Something went wrong on our side. Quote the request id when you report it.')
}

/** The messages of an error and of what caused it. */
function reasonOf(error: Error): string {
  const { cause, message } = error
  if (!(cause instanceof Error)) return message
  const deeper = reasonOf(cause)
  return message.includes(deeper) ? message : `${message} (${deeper})`
}
