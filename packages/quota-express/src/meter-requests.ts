import {
  type Admission,
  Exchange,
  type HttpMeter,
  type MeteredRequest,
  nodeCarrier,
  type QuotaAnswer,
  watchResponse,
} from '@scoregw/quota/http'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { QuotaMiddlewareOptions } from './options.ts'
import { attach, hookOf } from './prototypes.ts'

/** A middleware that meters requests, and settles them by the response that Express writes. */
export function meterRequests(meter: HttpMeter<Request>): RequestHandler {
  const { requestPropertyName = 'quota', handler } = meter.options as QuotaMiddlewareOptions

  /** Whether the request goes on; `false`: it was answered. */
  function goesOn(req: Request, res: Response, next: NextFunction, admission: Admission): boolean {
    if (admission.kind === 'pass') return true
    if (admission.kind === 'answer') {
      if (admission.status === 429) give(req, Exchange.of(nodeCarrier(req)), admission.quota)
      answer(req, res, next, admission)
      return false
    }
    give(req, admission.exchange, admission.quota)
    watchResponse(admission, req, res, { hook: hookOf(res) })
    return true
  }

  function give(req: Request, exchange: Exchange, quota: MeteredRequest): void {
    if (!attach(req, exchange, requestPropertyName, quota)) return
    const message = `req.${requestPropertyName} is in use already and is replaced; name another with requestPropertyName`
    meter.warnings.tell('property_taken', message)
  }

  function answer(req: Request, res: Response, next: NextFunction, told: QuotaAnswer): void {
    res.set(told.headers)
    if (handler === undefined) {
      res.status(told.status).json(told.body)
      return
    }
    // An async handler that fails is the application's error like any other.
    Promise.resolve(handler(req, res, next, told)).catch(next)
  }

  return function quotaMiddleware(req, res, next) {
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
    // `next` stays outside the `try`: what later handlers throw is not ours.
    if (isOn) next()
  }
}
