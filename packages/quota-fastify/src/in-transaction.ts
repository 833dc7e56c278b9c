import { type HttpMeter, QuotaRefusal, watchResponse } from '@scoregw/quota/http'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { hookedOutcomes } from './meter-requests.ts'

type ErrorHandler = NonNullable<RouteOptions['errorHandler']>

/** Sends the answer of a refusal. */
const ANSWERS = new WeakMap<object, () => void>()

/** Gives a request a `charge(transaction)`. */
export function chargeInTransaction(
  meter: HttpMeter<FastifyRequest>,
  request: FastifyRequest,
  reply: FastifyReply,
  done: () => void,
): void {
  const { attach, answer } = hookedOutcomes(meter, request, reply)
  // Another engine may charge the same request.
  const others: FastifyRequest['charge'] | undefined = request.charge
  request.charge = async (transaction) => {
    await others?.call(request, transaction)
    const admission = await meter.admitInTransaction(request, transaction)
    if (admission.kind === 'answer') {
      if (admission.status === 429) attach(admission.quota)
      const refusal = new QuotaRefusal(admission)
      ANSWERS.set(refusal, () => answer(admission))
      throw refusal
    }
    if (admission.kind !== 'metered') return undefined
    attach(admission.quota)
    watchResponse(admission, request.raw, reply.raw, { ownsHeads: true })
    return admission.decision
  }
  done()
}

/** Makes a route's error handler, which answers refusals. @param own the route's own handler of other errors */
export function answerRefusal(own: RouteOptions['errorHandler']): ErrorHandler {
  return function quotaRefusals(error, request, reply) {
    const answer = ANSWERS.get(error)
    if (answer !== undefined) answer()
    else if (own !== undefined) return own.call(this, error, request, reply)
    // Fastify's handler of the scope answers it.
    else throw error
    return undefined
  }
}
