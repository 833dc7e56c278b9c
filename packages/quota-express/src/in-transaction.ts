import { type Decision, QuotaError } from '@scoregw/quota'
import { type HttpMeter, QuotaRefusal, watchResponse } from '@scoregw/quota/http'
import type { NextFunction, Request, RequestHandler } from 'express'
import { outcomesOf } from './meter-requests.ts'
import { notExpress } from './wrong-use.ts'

/** A request whose handler charges it. */
type Charged = Request & { charge?: ((transaction: unknown) => Promise<Decision | undefined>) | undefined }

/** Sends the answer of a refusal. */
const ANSWERS = new WeakMap<object, (next: NextFunction) => void>()

/** A middleware that gives requests a `charge(transaction)`. */
export function chargeInTransaction(meter: HttpMeter<Request>): RequestHandler {
  const { attach, answer } = outcomesOf(meter)
  return function quotaInTransaction(req: Charged, res, next) {
    if (typeof next !== 'function') throw notExpress()
    // Another engine may charge the same request.
    const others = req.charge
    let isAgain = false
    req.charge = async (transaction) => {
      await others?.call(req, transaction)
      const admission = await meter.admitInTransaction(req, transaction)
      if (admission.kind === 'answer') {
        if (admission.status === 429) attach(req, admission.quota, isAgain)
        isAgain = true
        const refusal = new QuotaRefusal(admission)
        ANSWERS.set(refusal, (errorNext) => answer(req, res, errorNext, admission))
        throw refusal
      }
      if (admission.kind !== 'metered') return undefined
      attach(req, admission.quota, isAgain)
      isAgain = true
      watchResponse(admission, req, res)
      return admission.decision
    }
    next()
  }
}

/** Charges a request. @throws {QuotaError} `invalid_options` if its route charges in no transaction */
export function charge(req: Charged, transaction: unknown): Promise<Decision | undefined> {
  if (req.charge !== undefined) return req.charge(transaction)
  const message = 'charge(): this route charges in no transaction; use metered.inTransaction(name)'
  throw new QuotaError('invalid_options', message)
}

/** Answers a request whose charge was refused. @returns whether the error is such a refusal */
export function answerRefusal(error: unknown, next: NextFunction): boolean {
  const answer = typeof error === 'object' && error !== null ? ANSWERS.get(error) : undefined
  answer?.(next)
  return answer !== undefined
}
