import { type Admission, Exchange, type HttpMeter, type QuotaAnswer, watchResponse } from '@scoregw/quota/http'
import { answerByApplication, answerHandlerOf, calling, isPromiseLike } from '@scoregw/quota/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { QuotaFastifyOptions, QuotaHandler } from './options.ts'

/** Continues with the request, or with an error. */
type Done = (error?: Error) => void

/** Decides about a request, then answers it or continues. */
export function meterRequest(
  meter: HttpMeter<FastifyRequest>,
  request: FastifyRequest,
  reply: FastifyReply,
  done: Done,
): void {
  const { logger } = meter.options
  const fail = (error: unknown): void => {
    if (isSent(reply)) logger.error(error)
    else done(error as Error)
  }
  try {
    const admission = meter.admit(request, reply.raw)
    if (!isPromiseLike(admission)) {
      goOn(meter, { request, reply, done, fail }, admission)
      return
    }
    const later = (late: Admission): void => calling(() => goOn(meter, { request, reply, done, fail }, late), fail)
    admission.then(later, fail)
  } catch (error) {
    fail(error)
  }
}

/** A request in Fastify's hook. */
interface Hooked {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly done: Done
  /** Passes an error to Fastify, or to the log if the reply was sent. */
  readonly fail: (error: unknown) => void
}

function goOn(meter: HttpMeter<FastifyRequest>, hooked: Hooked, admission: Admission): void {
  const { requestPropertyName = 'quota' } = meter.options as unknown as QuotaFastifyOptions
  const { request, reply, done } = hooked
  // The reply was sent, so Fastify expects no further call.
  if (admission.kind === 'gone') return
  if (admission.kind === 'answer') {
    if (admission.status === 429) attach(request, requestPropertyName, admission.quota)
    answer(meter, hooked, admission)
    return
  }
  if (admission.kind === 'metered') {
    attach(request, requestPropertyName, admission.quota)
    watchResponse(admission, request.raw, reply.raw, { ownsHeads: true })
  }
  done()
}

/** What becomes of a request after its decision, for routes that charge in a transaction. */
interface HookedOutcomes {
  attach(quota: object): void
  /** Answers a refused request from its error handler. */
  answer(given: QuotaAnswer): void
}

export function hookedOutcomes(
  meter: HttpMeter<FastifyRequest>,
  request: FastifyRequest,
  reply: FastifyReply,
): HookedOutcomes {
  const { requestPropertyName = 'quota' } = meter.options as unknown as QuotaFastifyOptions
  const fail = (error: unknown): void => meter.options.logger.error(error)
  return {
    attach: (quota) => attach(request, requestPropertyName, quota),
    answer: (given) => answer(meter, { request, reply, done: () => undefined, fail }, given),
  }
}

function attach(request: FastifyRequest, name: string, quota: object): void {
  ;(request as unknown as Record<string, unknown>)[name] = quota
}

function answer(meter: HttpMeter<FastifyRequest>, { request, reply, fail }: Hooked, given: QuotaAnswer): void {
  reply.headers(given.headers)
  // Sent as text, because the route's schema for this status describes the application's own responses.
  const sendDefault = (): void =>
    void reply.code(given.status).type(given.contentType).send(JSON.stringify(given.content))
  const handler = answerHandlerOf<QuotaHandler<QuotaAnswer['status']>>(meter.options, given)
  if (handler === undefined) {
    sendDefault()
    return
  }
  answerByApplication(given, meter.options.logger, {
    answer: () => ownAnswer(() => handler(request, reply, given), reply),
    isDone: () => isSent(reply) || reply.raw.destroyed,
    sendDefault,
    failed: fail,
  })
}

/**
 * Calls the application's function. A reply is a promise of its own end. If it was never sent, a function that returns
 * it would never end, so the promise is hidden until then.
 */
function ownAnswer(call: () => unknown, reply: FastifyReply): unknown {
  Object.defineProperty(reply, 'then', { value: undefined, configurable: true })
  const show = (): void => void Reflect.deleteProperty(reply, 'then')
  let result: unknown
  try {
    result = call()
  } finally {
    if (!isPromiseLike(result)) show()
  }
  return isPromiseLike(result) ? Promise.resolve(result).finally(show) : undefined
}

function isSent(reply: FastifyReply): boolean {
  return reply.sent || reply.raw.headersSent
}

/**
 * Refunds everything that isn't settled yet because the handler failed, whether or not the caller is still connected.
 */
export function cancelFailed(request: FastifyRequest, done: () => void): void {
  const exchange = Exchange.find(request)
  if (exchange === undefined) done()
  else exchange.fail().then(done, done)
}
