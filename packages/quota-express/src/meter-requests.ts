import type { QuotaLogger } from '@scoregw/quota'
import { type Admission, type HttpMeter, type QuotaAnswer, type RequestQuota, watchResponse } from '@scoregw/quota/http'
import { answerByApplication, answerHandlerOf, calling, isPromiseLike } from '@scoregw/quota/internal'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { QuotaHandler, QuotaMiddlewareOptions } from './options.ts'
import { notExpress } from './wrong-use.ts'

/** What becomes of a request after its decision. */
interface Outcomes {
  /** Whether the request proceeds; `false`: it was answered, or its response has ended. */
  goesOn(req: Request, res: Response, next: NextFunction, admission: Admission): boolean
  /** Gives the handler the quota of a request. @param isAgain whether that may replace an earlier decision */
  attach(req: Request, quota: RequestQuota, isAgain?: boolean): void
  answer(req: Request, res: Response, next: NextFunction, given: QuotaAnswer): void
}

/** Applies decisions of a meter to requests of Express. */
export function outcomesOf(meter: HttpMeter<Request>): Outcomes {
  const { requestPropertyName = 'quota' } = meter.options as QuotaMiddlewareOptions
  const { logger } = meter.options

  function goesOn(req: Request, res: Response, next: NextFunction, admission: Admission): boolean {
    if (admission.kind === 'pass') return true
    if (admission.kind === 'gone') return false
    if (admission.kind === 'answer') {
      if (admission.status === 429) attach(req, admission.quota)
      answer(req, res, next, admission)
      return false
    }
    attach(req, admission.quota)
    watchResponse(admission, req, res)
    return true
  }

  function attach(req: Request, quota: RequestQuota, isAgain = false): void {
    const holder = req as unknown as Record<string, unknown>
    if (holder[requestPropertyName] !== undefined && !isAgain) {
      const message = `req.${requestPropertyName} is already in use and was replaced; choose another name with requestPropertyName`
      meter.warnings.warnOnce('property_taken', message)
    }
    holder[requestPropertyName] = quota
  }

  function answer(req: Request, res: Response, next: NextFunction, given: QuotaAnswer): void {
    res.set(given.headers)
    const sendDefault = (): void => void res.status(given.status).type(given.contentType).json(given.content)
    const handler = answerHandlerOf<QuotaHandler<QuotaAnswer['status']>>(meter.options, given)
    if (handler === undefined) {
      sendDefault()
      return
    }
    let isPassedOn = false
    const passOn: NextFunction = (...args: []) => {
      isPassedOn = true
      next(...args)
    }
    answerByApplication(given, logger, {
      answer: () => handler(req, res, passOn, given),
      isDone: () => isPassedOn || res.headersSent || res.writableEnded || res.destroyed,
      sendDefault,
      failed: (error) => fail(error, res, next, logger),
    })
  }

  return { goesOn, attach, answer }
}

/** A middleware that meters requests, and settles them by the response that Express writes. */
export function meterRequests(meter: HttpMeter<Request>): RequestHandler {
  const { logger } = meter.options
  const { goesOn } = outcomesOf(meter)

  /** Continues after an asynchronous decision, where no caller is left to catch what is thrown. */
  function goOnLater(req: Request, res: Response, next: NextFunction, admission: Admission): void {
    let isOn = false
    calling(
      () => {
        isOn = goesOn(req, res, next, admission)
      },
      (error) => fail(error, res, next, logger),
    )
    // Errors of later handlers belong to them, so `next` is called on its own.
    if (isOn) calling(next, (error) => logger.error(error))
  }

  return function quotaMiddleware(req, res, next) {
    if (typeof next !== 'function') throw notExpress()
    let isOn: boolean
    try {
      const admission = meter.admit(req, res)
      if (isPromiseLike(admission)) {
        admission.then(
          (late) => goOnLater(req, res, next, late),
          (error: unknown) => fail(error, res, next, logger),
        )
        return
      }
      isOn = goesOn(req, res, next, admission)
    } catch (error) {
      fail(error, res, next, logger)
      return
    }
    // `next` is called outside the `try`: errors of later handlers belong to them.
    if (isOn) next()
  }
}

/** Passes an error to Express, or logs it if a response was sent: Express would cut its connection. */
function fail(error: unknown, res: Response, next: NextFunction, logger: QuotaLogger): void {
  if (res.headersSent || res.writableEnded) logger.error(error)
  else calling(() => next(error), logger.error)
}
