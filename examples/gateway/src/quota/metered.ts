import type { RefusedDecision } from '@scoregw/quota'
import { preferredLocale, quotaExceededBody, quotaHeaders } from '@scoregw/quota/http'
import { scoreGatewayAnswers } from '@scoregw/quota/score-gateway'
import { quotaMiddleware } from '@scoregw/quota-express'
import '@scoregw/quota-express/augment'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { HttpError } from '../http/http-error.ts'
import { contextOf } from '../http/request-context.ts'
import type { Metered, Reply } from '../http/route.ts'
import type { Logger } from '../log/logger.ts'
import { categoryOf, type GatewayQuota, OPERATION_NAMES, type OperationName, type Tokens } from './policy.ts'

/** Called for a request that is about to be metered. */
export type ObserveMetered = (req: Request, res: Response, operation: OperationName, category: string) => void

export interface MeteredOptions {
  readonly quota: GatewayQuota
  readonly supportForumUrl: string
  readonly logger: Logger
  /** Whether requests can be charged in the transactions of their work. */
  readonly inTransaction: boolean
  /** Called for each request before it is charged. */
  readonly observe: ObserveMetered
}

/** All limits, with every response. */
const FIELDS = { standardHeaders: 'draft-10', fields: 'all' } as const

/** Makes the steps that charge for the requests of routes: before the work, or in its transaction. */
export function meteredRoutes(options: MeteredOptions): Metered {
  const { quota, supportForumUrl, logger, inTransaction, observe } = options
  const metered = quotaMiddleware({
    quota,
    answers: scoreGatewayAnswers({ supportForumUrl }),
    ...FIELDS,
    subject: (req) => contextOf(req).user?.id,
    // A 429 has its own body. All other errors have the gateway's form.
    handler: (_req, res, _next, { status, body }) => void res.status(status).json(body),
    onUnauthenticated: (req, _res, next, { body }) => fail(req, next, new HttpError(body.error, body.msg)),
    onUnavailable(req, _res, next, { body: { error, msg, retryAfterSeconds }, error: cause }) {
      fail(req, next, new HttpError(error, msg, { retryAfterSeconds, cause }))
    },
    logger: {
      warn: (warning) => logger.warn({ err: warning }, 'quota middleware'),
      error: (error) => logger.error({ err: error }, 'tokens could not be settled'),
    },
  })
  const stepsOf = (step: (name: OperationName) => RequestHandler) =>
    new Map<string, RequestHandler>(OPERATION_NAMES.map((name) => [name, step(name)]))
  const before = stepsOf((name) => metered.operation(name))
  const within = inTransaction ? stepsOf((name) => metered.inTransaction(name)) : before

  return ({ operation, chargesInTransaction = false }) => {
    const steps = chargesInTransaction ? within : before
    if (typeof operation === 'string' && !steps.has(operation)) throw new Error(`the policy has no ${operation}`)
    return (req, res, next) => {
      const name = typeof operation === 'function' ? operation(contextOf(req).input) : operation
      const step = steps.get(name ?? '')
      if (step === undefined) return next()
      observe(req, res, name as OperationName, categoryOf(name ?? ''))
      return step(req, res, next)
    }
  }
}

/** Passes on an error that is classified already: a charge in a transaction fails after that. */
function fail(req: Request, next: NextFunction, error: HttpError): void {
  contextOf(req).errorCode = error.code
  next(error)
}

/** The response to a refusal, for routes that call the quota themselves. It equals the middleware's. */
export function refusalReply(req: Request, decision: RefusedDecision<Tokens>, supportForumUrl: string): Reply<never> {
  const locale = preferredLocale(req.get('Accept-Language'))
  return {
    status: 429,
    headers: { ...quotaHeaders(decision, { ...FIELDS, alwaysRetryAfter: true }), 'Cache-Control': 'no-store' },
    // The type is that of a success, but the body is that of every 429.
    body: quotaExceededBody(decision, { locale, answers: scoreGatewayAnswers({ supportForumUrl }) }) as never,
  }
}
