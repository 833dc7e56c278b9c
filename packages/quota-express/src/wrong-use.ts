import { QuotaError, type QuotaLogger } from '@scoregw/quota'
import type { RequestHandler, Response } from 'express'

/**
 * Whether the arguments of a middleware were passed to the function that makes one. If so, logs the mistake and answers
 * the request. An error would show the client a message for the developer.
 */
export function isGivenRequest(args: readonly unknown[], logger: QuotaLogger): boolean {
  const [req, res, next] = args
  const isRequest = typeof req === 'object' && req !== null && 'method' in req && 'url' in req
  if (!isRequest || typeof next !== 'function') return false
  const message = 'quotaMiddleware is not a middleware itself, it makes one: app.use(quotaMiddleware({ quota, ... }))'
  logOnce(logger, message)
  fail(res as Response)
  return true
}

/** Messages already logged, so that a mistake made on every request is logged once per process. */
const logged = new Set<string>()

function logOnce(logger: QuotaLogger, message: string): void {
  if (logged.has(message)) return
  logged.add(message)
  logger.error(new QuotaError('invalid_options', message))
}

function fail(res: Response): void {
  res.status(500).json({ error: 'internal_error' })
}

/**
 * Replaces a middleware for a whole app that has no `operation(req)`. Express reads the name of what it mounts, so the
 * mistake is logged at start, not with the first request.
 */
export function withoutOperation(logger: QuotaLogger): RequestHandler {
  const message =
    'this policy has several operations: pass operation(req) to quotaMiddleware(), or mount .operation(name) on each route'
  const refusing: RequestHandler = (_req, res) => {
    logOnce(logger, message)
    fail(res)
  }
  return Object.defineProperty(refusing, 'name', {
    get(): never {
      throw new QuotaError('invalid_options', message, { faults: [{ path: 'operation', message: 'missing' }] })
    },
  })
}

/** The error of a framework that passes no `next`. */
export function notExpress(): QuotaError {
  const message =
    'quotaMiddleware() of @scoregw/quota-express got no next(), so this is not Express: for Hono, import it from @scoregw/quota-fetch/hono'
  return new QuotaError('invalid_options', message)
}
