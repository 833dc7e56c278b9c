import { type Admission, type HttpMeter, type QuotaAnswer, type RequestQuota, watchResponse } from '@scoregw/quota/http'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { QuotaMiddlewareOptions } from './options.ts'
import { notExpress } from './wrong-use.ts'

/** A middleware that meters requests, and settles them by the response that Express writes. */
export function meterRequests(meter: HttpMeter<Request>): RequestHandler {
  const { requestPropertyName = 'quota', handler } = meter.options as QuotaMiddlewareOptions

  /** Whether the request proceeds; `false`: it was answered. */
  function goesOn(req: Request, res: Response, next: NextFunction, admission: Admission): boolean {
    if (admission.kind === 'pass') return true
    if (admission.kind === 'answer') {
      if (admission.status === 429) attach(req, admission.quota)
      answer(req, res, next, admission)
      return false
    }
    attach(req, admission.quota)
    watchResponse(admission, req, res)
    return true
  }

  function attach(req: Request, quota: RequestQuota): void {
    const holder = req as unknown as Record<string, unknown>
    if (holder[requestPropertyName] !== undefined) {
      const message = `req.${requestPropertyName} is already in use and was replaced; choose another name with requestPropertyName`
      meter.warnings.warnOnce('property_taken', message)
    }
    holder[requestPropertyName] = quota
  }

  function answer(req: Request, res: Response, next: NextFunction, given: QuotaAnswer): void {
    res.set(given.headers)
    if (handler === undefined) {
      res.status(given.status).type(given.contentType).json(given.content)
      return
    }
    // An async handler that fails is the application's error, like any other.
    Promise.resolve(handler(req, res, next, given)).catch(next)
  }

  return function quotaMiddleware(req, res, next) {
    if (typeof next !== 'function') throw notExpress()
    let admission: Admission | Promise<Admission>
    let isOn: boolean
    try {
      admission = meter.admit(req)
      if (admission instanceof Promise) {
        admission.then((late) => goesOn(req, res, next, late) && next(), next)
        return
      }
      isOn = goesOn(req, res, next, admission)
    } catch (error) {
      next(error)
      return
    }
    // `next` is called outside the `try`: errors of later handlers belong to them.
    if (isOn) next()
  }
}
