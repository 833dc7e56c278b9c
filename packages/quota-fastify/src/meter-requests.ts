import { type Admission, Exchange, type HttpMeter, type QuotaAnswer, watchResponse } from '@scoregw/quota/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { QuotaFastifyOptions } from './options.ts'

/** Continues with the request, or with an error. */
type Done = (error?: Error) => void

/** Decides about a request, then answers it or continues. */
export function meterRequest(
  meter: HttpMeter<FastifyRequest>,
  request: FastifyRequest,
  reply: FastifyReply,
  done: Done,
): void {
  let admission: Admission | Promise<Admission>
  try {
    admission = meter.admit(request)
  } catch (error) {
    done(error as Error)
    return
  }
  if (admission instanceof Promise) admission.then((late) => goOn(meter, request, reply, done, late)).catch(done)
  else goOn(meter, request, reply, done, admission)
}

function goOn(
  meter: HttpMeter<FastifyRequest>,
  request: FastifyRequest,
  reply: FastifyReply,
  done: Done,
  admission: Admission,
): void {
  const { requestPropertyName = 'quota', handler } = meter.options as unknown as QuotaFastifyOptions
  if (admission.kind === 'answer') {
    if (admission.status === 429) attach(request, requestPropertyName, admission.quota)
    answer(request, reply, done, handler, admission)
    return
  }
  if (admission.kind === 'metered') {
    attach(request, requestPropertyName, admission.quota)
    watchResponse(admission, request.raw, reply.raw, { ownsHeads: true })
  }
  done()
}

function attach(request: FastifyRequest, name: string, quota: object): void {
  ;(request as unknown as Record<string, unknown>)[name] = quota
}

function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  done: Done,
  handler: QuotaFastifyOptions['handler'],
  given: QuotaAnswer,
): void {
  reply.headers(given.headers)
  if (handler === undefined) {
    // Sent as text, because the route's schema for this status describes the application's own responses.
    reply.code(given.status).type(given.contentType).send(JSON.stringify(given.content))
    return
  }
  // A handler that sends nothing lets the request proceed.
  Promise.resolve(handler(request, reply, given)).then(() => {
    if (!reply.sent) done()
  }, done)
}

/**
 * Refunds everything that isn't settled yet because the handler failed, whether or not the caller is still connected.
 */
export function cancelFailed(request: FastifyRequest, done: () => void): void {
  const exchange = Exchange.find(request)
  if (exchange === undefined) done()
  else exchange.fail().then(done, done)
}
