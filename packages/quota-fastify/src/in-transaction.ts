import { type Counting, type Decision, type OneUnit, QuotaError } from '@scoregw/quota'
import { type HttpMeter, QuotaRefusal, type RequestQuota, watchResponse } from '@scoregw/quota/http'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { hookedOutcomes } from './meter-requests.ts'

type ErrorHandler = NonNullable<RouteOptions['errorHandler']>

/** A request whose handler charges it. */
type Charged = FastifyRequest & { charge?: ((transaction: unknown) => Promise<Decision | undefined>) | undefined }

/** Sends the answer of a refusal. */
const ANSWERS = new WeakMap<object, () => void>()

/** Gives a request a `charge(transaction)`. */
export function chargeInTransaction(
  meter: HttpMeter<FastifyRequest>,
  request: Charged,
  reply: FastifyReply,
  done: () => void,
): void {
  const { attach, answer } = hookedOutcomes(meter, request, reply)
  // Another engine may charge the same request.
  const others = request.charge
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

/**
 * Charges a request in the transaction of its work. Only on routes with `inTransaction` in `config.quota`.
 * `request.charge()` is the same, with its type in `@scoregw/quota-fastify/augment`.
 *
 * @param transaction of the store's kind, such as kysely's `Transaction`
 * @returns the decision; `undefined` if the request isn't metered
 * @throws {QuotaRefusal} if it is refused: let it leave the transaction, which is then rolled back
 * @throws {QuotaError} `invalid_options` on other routes
 */
export function charge<C extends Counting = OneUnit>(
  request: FastifyRequest,
  transaction: unknown,
): Promise<Decision<C> | undefined> {
  const { charge: own } = request as Charged
  if (own !== undefined) return own(transaction) as Promise<Decision<C> | undefined>
  const message = 'charge(): this route charges in no transaction; set inTransaction in its config.quota'
  throw new QuotaError('invalid_options', message)
}

/**
 * Returns the quota of a metered request; `undefined` if it wasn't metered. `request.quota` is the same, with its type in
 * `@scoregw/quota-fastify/augment`.
 *
 * @param name the plugin's `requestPropertyName`
 * @example
 * await quotaOf(request)?.commit(rows.length)
 */
export function quotaOf<C extends Counting = OneUnit>(
  request: FastifyRequest,
  name = 'quota',
): RequestQuota<C, C['cost']> | undefined {
  const of = request as unknown as Readonly<Record<string, RequestQuota<C, C['cost']> | null | undefined>>
  return of[name] ?? undefined
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
