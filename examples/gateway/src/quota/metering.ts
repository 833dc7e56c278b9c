import type { Quota, RefusedDecision } from '@scoregw/quota'
import { preferredLocale, type QuotaLogger, quotaExceededBody, quotaHeaders } from '@scoregw/quota/http'
import { scoreGatewayAnswers } from '@scoregw/quota/score-gateway'
import { quotaMiddleware } from '@scoregw/quota-express'
import type { Request, RequestHandler, Response } from 'express'
import { HttpError } from '../http/http-error.ts'
import { contextOf } from '../http/request-context.ts'
import type { Reply } from '../http/route.ts'
import type { Logger } from '../log/logger.ts'
import { OPERATION_NAMES, type OperationName } from './policy.ts'

declare module '@scoregw/quota/http' {
  /** The gateway's policy counts tokens. */
  interface HandlerUnits {
    readonly units: 'tokens'
  }
}

/** Called for a request that is about to be metered. */
export type ObserveMetered = (req: Request, res: Response, operation: OperationName, category: string) => void

export interface MeteringOptions {
  readonly quota: Quota<OperationName>
  readonly supportForumUrl: string
  readonly logger: Logger
  /** Called for each request before it is charged. */
  readonly observe?: ObserveMetered | undefined
}

/** All limits, with every response. */
export const FIELDS = { standardHeaders: 'draft-10', fields: 'all' } as const

/** Middleware that charges an operation and continues, or responds. It doesn't call `observe`. */
export function chargingBefore({
  quota,
  supportForumUrl,
  logger,
}: MeteringOptions): Record<OperationName, RequestHandler> {
  const metered = quotaMiddleware({
    quota,
    answers: scoreGatewayAnswers({ supportForumUrl }),
    ...FIELDS,
    subject(req) {
      const { user } = contextOf(req)
      return user?.id
    },
    // A 429 has its own body. All other errors have the gateway's form.
    async handler(req, res, _next, { status, body }) {
      await contextOf(req).abandon?.()
      res.status(status).json(body)
    },
    async onUnauthenticated(req, _res, next, { body }) {
      await contextOf(req).abandon?.()
      next(new HttpError(body.error, body.msg))
    },
    async onUnavailable(req, _res, next, { body, error }) {
      await contextOf(req).abandon?.()
      const { retryAfterSeconds } = body
      next(new HttpError(body.error, body.msg, { retryAfterSeconds, cause: error }))
    },
    logger: meterLogger(logger),
  })
  return Object.fromEntries(OPERATION_NAMES.map((name) => [name, metered.operation(name)])) as Record<
    OperationName,
    RequestHandler
  >
}

export function meterLogger(logger: Logger): QuotaLogger {
  return {
    warn: (warning) => logger.warn({ err: warning }, 'quota middleware'),
    error: (error) => logger.error({ err: error }, 'tokens could not be settled'),
  }
}

/** The response to a refusal, for routes that call the quota themselves. It equals the middleware's. */
export function refusalReply(req: Request, decision: RefusedDecision, supportForumUrl: string): Reply<never> {
  const locale = preferredLocale(req.get('Accept-Language'))
  return {
    status: 429,
    headers: { ...quotaHeaders(decision, { ...FIELDS, alwaysRetryAfter: true }), 'Cache-Control': 'no-store' },
    // The type is that of a success, but the body is that of every 429.
    body: quotaExceededBody(decision, { locale, answers: scoreGatewayAnswers({ supportForumUrl }) }) as never,
  }
}
