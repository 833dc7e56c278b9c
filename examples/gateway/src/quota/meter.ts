import type { Quota } from '@scoregw/quota'
import type { QuotaLogger } from '@scoregw/quota/http'
import { scoreGatewayAnswers } from '@scoregw/quota/score-gateway'
import { quotaMiddleware } from '@scoregw/quota-express'
import type { RequestHandler } from 'express'
import { HttpError } from '../http/http-error.ts'
import type { Meter } from '../http/mount.ts'
import { contextOf } from '../http/request-context.ts'
import type { Logger } from '../log/logger.ts'
import type { ObserveMetered } from '../usage/observe-metered.ts'
import { OPERATION_NAMES, type OperationName } from './policy.ts'
import { subjectsOf } from './subjects.ts'

declare module '@scoregw/quota/http' {
  /** The gateway's policy counts tokens. */
  interface HandlerUnits {
    readonly units: 'tokens'
  }
}

export interface MeterOptions {
  readonly quota: Quota<OperationName>
  readonly supportForumUrl: string
  readonly logger: Logger
  /** Called with each request before it is charged. */
  readonly observe?: ObserveMetered | undefined
}

/** Fields of every limit, on every answer. */
export const FIELDS = { standardHeaders: 'draft-10', fields: 'all' } as const

/** Charges requests to the user who sends them, before the work, and gives back what was not delivered. */
export function createMeter(options: MeterOptions): Meter {
  const { quota, observe } = options
  const before = chargingBefore(options)
  return (operation) => {
    return (req, res, next) => {
      const name = typeof operation === 'string' ? operation : operation(contextOf(req).input)
      if (name === undefined) return next()
      observe?.(req, res, name, quota.policy.operations[name].category)
      before[name](req, res, next)
    }
  }
}

/** Middleware that charges for an operation and goes on, or answers; does not call `observe`. */
export function chargingBefore({
  quota,
  supportForumUrl,
  logger,
}: MeterOptions): Record<OperationName, RequestHandler> {
  const subjectOf = subjectsOf(quota.policy)
  const metered = quotaMiddleware({
    quota,
    answers: scoreGatewayAnswers({ supportForumUrl }),
    ...FIELDS,
    subject(req) {
      const { user } = contextOf(req)
      return user && subjectOf(user.id)
    },
    // A 429 has a body of its own; every other answer has the form of the gateway's errors.
    async handler(req, res, next, answer) {
      await contextOf(req).abandon?.()
      const { status, body } = answer
      if (status === 429) res.status(status).json(body)
      else if (status === 401) next(new HttpError(body.error, body.msg))
      else {
        const { retryAfterSeconds } = body
        next(new HttpError(body.error, body.msg, { retryAfterSeconds, cause: answer.error }))
      }
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
