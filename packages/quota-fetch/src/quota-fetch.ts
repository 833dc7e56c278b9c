import { type Counting, type Decision, type OneUnit, QuotaError } from '@scoregw/quota'
import {
  type Admission,
  Exchange,
  type HttpAdapter,
  HttpMeter,
  type QuotaAnswer,
  QuotaRefusal,
  type RequestQuota,
} from '@scoregw/quota/http'
import {
  ANSWER_HANDLERS,
  answerHandlerChecks,
  answerHandlerOf,
  isPromiseLike,
  type MeteredRequest,
} from '@scoregw/quota/internal'
import { answerResponse, goneResponse, misused, ownResponse } from './answer-response.ts'
import { type Charge, chargeOf } from './charge.ts'
import type { QuotaFetchOptions, QuotaHandler, QuotaRouteOptions } from './options.ts'
import { settleAtHangUp, settleResponse } from './settle-response.ts'

/** A handler of any framework that passes a `Request` and expects a `Response`. */
export type FetchHandler<R extends Request, Args extends readonly unknown[]> = (
  request: R,
  ...args: Args
) => Response | Promise<Response>

/** Wraps a handler to meter its requests. */
export type Wrap = <R extends Request, Args extends readonly unknown[]>(
  handler: FetchHandler<R, Args>,
) => (request: R, ...args: Args) => Promise<Response>

/** Wraps the handlers of single operations. */
export interface QuotaFetchRoutes<Operation extends string = string, C extends Counting = OneUnit> {
  /**
   * Meters every request of a handler as one operation.
   *
   * @param overrides options of this handler
   * @throws {QuotaError} `unknown_operation`; `invalid_options` naming every fault
   * @example
   * export const POST = metered.operation('write')(async (request) => Response.json(await save(request)))
   */
  operation(name: Operation, overrides?: Partial<QuotaRouteOptions<C>>): Wrap
  /**
   * Lets a handler charge its request in the transaction of the work, by {@link charge}. A refusal is thrown, so that the
   * transaction is rolled back, and answered here when it leaves the handler.
   *
   * @param overrides options of this handler, except those that settle
   * @throws {QuotaError} `unknown_operation`; `invalid_options` naming every fault; `store_unsupported` if the store has
   * no transactions
   * @example
   * export const POST = metered.inTransaction('write')(async (request) => {
   *   await db.transaction().execute(async (transaction) => {
   *     await metered.charge(request, transaction)
   *     await save(transaction, request)
   *   })
   *   return Response.json({})
   * })
   */
  inTransaction(name: Operation, overrides?: Partial<QuotaRouteOptions<C>>): Wrap
  /**
   * Charges a request in the transaction of its work. Only in handlers with {@link inTransaction}.
   *
   * @param transaction of the store's kind, such as kysely's `Transaction`
   * @returns the decision; `undefined` if the request isn't metered
   * @throws {QuotaRefusal} if it is refused: let it leave the transaction, which is then rolled back
   * @throws {QuotaError} `invalid_options` in other handlers
   */
  charge(request: Request, transaction: unknown): Promise<Decision<C> | undefined>
  /**
   * Returns the quota of a metered request, typed by the engine's units; `undefined` if it wasn't metered.
   *
   * @example
   * await metered.of(request)?.commit({ tokens: 812 })
   */
  of(request: Request): RequestQuota<C, C['cost']> | undefined
}

/** Wraps handlers. A handler can serve several operations or a single one. */
export type QuotaFetch<Operation extends string = string, C extends Counting = OneUnit> = Wrap &
  QuotaFetchRoutes<Operation, C>

/** One call of a handler. */
interface Call {
  readonly request: Request
  readonly args: readonly unknown[]
}

const FETCH: HttpAdapter<Call> = {
  name: 'quotaFetch()',
  method: ({ request }) => request.method,
  languages: ({ request }) => request.headers.get('accept-language') ?? undefined,
  carrier: ({ request }) => request,
  connection: ({ request }) => request.signal,
  own: answerHandlerChecks,
  ownOfRoutes: ANSWER_HANDLERS,
}

/**
 * Makes a meter for handlers that take a `Request` and return a `Response`: those of Next.js, SvelteKit, Bun, Deno,
 * Workers and others.
 *
 * A request is charged before its handler. The status of the response settles it. Below 400 it stays charged. From 400
 * on, or if the handler throws, it is refunded before the response is sent.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const metered = quotaFetch({ quota, subject: (request) => userOf(request), operation: () => 'read' })
 * export default { fetch: metered(() => new Response('hello')) }
 */
export function quotaFetch<Operation extends string, C extends Counting = OneUnit>(
  options: QuotaFetchOptions<Operation, C>,
): QuotaFetch<Operation, C> {
  const meter = new HttpMeter<Call>(ofCall(options) as never, FETCH)
  const routes: QuotaFetchRoutes<Operation, C> = {
    operation: (name, overrides = {}) => wrapping(meter.operation(name, ofCall(overrides))),
    inTransaction: (name, overrides = {}) => charging(meter.inTransaction(name, ofCall(overrides))),
    charge: (request, transaction) => chargeOf(CHARGES.get(request))(transaction) as Promise<Decision<C> | undefined>,
    of: (request) => quotaOf(request) as RequestQuota<C, C['cost']> | undefined,
  }
  return Object.assign(wrapping(meter), routes)
}

/** Returns the quota of a metered request, for its handler to settle. */
export function quotaOf(request: Request): RequestQuota | undefined {
  return Exchange.find(request)?.newest
}

function wrapping(meter: HttpMeter<Call>): Wrap {
  return (handler) => {
    if (typeof handler !== 'function') return notWrapped(meter) as never
    if (meter.options.operation === undefined) {
      const message = 'pass operation(request) to quotaFetch(), or wrap each handler with metered.operation(name)'
      throw new QuotaError('invalid_options', message, { faults: [{ path: 'operation', message: 'missing' }] })
    }
    return (request, ...args) => respond(meter, { request, args }, () => handler(request, ...args))
  }
}

async function respond(
  meter: HttpMeter<Call>,
  call: Call,
  work: () => Response | Promise<Response>,
): Promise<Response> {
  const admitted = meter.admit(call)
  const admission: Admission = isPromiseLike(admitted) ? await admitted : admitted
  if (admission.kind === 'pass') return work()
  if (admission.kind === 'gone') return goneResponse()
  if (admission.kind === 'answer') return answered(meter, call, admission)
  const { quota } = admission
  if (quota.settlesAtEnd) settleAtHangUp(quota, call.request.signal)
  let response: Response
  try {
    response = await work()
  } catch (error) {
    // A failed cancel is logged already. The caller needs the handler's error.
    await quota.fail().catch(() => undefined)
    throw error
  }
  return settled(quota, call, response)
}

async function answered({ options }: HttpMeter<Call>, call: Call, answer: QuotaAnswer): Promise<Response> {
  const handler = answerHandlerOf<QuotaHandler<QuotaAnswer['status']>>(options, answer)
  if (handler === undefined) return answerResponse(answer)
  const own: unknown = await Promise.resolve(handler(answer, call.request, ...(call.args as never[])))
  return ownResponse(own, answer, options.logger)
}

async function settled(quota: MeteredRequest, { request }: Call, response: Response): Promise<Response> {
  // Bun's handlers return nothing after an upgrade to a WebSocket.
  if ((response as Response | undefined) === undefined) {
    quota.settleByStatus(101, false)
    quota.end()
    await quota.pending
    return response
  }
  return quota.watches
    ? settleResponse(quota, response, {
        method: request.method,
        isHungUp: () => request.signal?.aborted === true,
      })
    : response
}

/** Charges of requests, for handlers that charge in a transaction. */
const CHARGES = new WeakMap<Request, Charge>()

function charging(meter: HttpMeter<Call>): Wrap {
  return (handler) =>
    async (request, ...args) => {
      const call = { request, args }
      let refusal: QuotaRefusal | undefined
      let quota: MeteredRequest | undefined
      // Another engine may charge the same request.
      const others = CHARGES.get(request)
      CHARGES.set(request, async (transaction) => {
        await Promise.resolve(others?.(transaction))
        const admission = await meter.admitInTransaction(call, transaction)
        quota = admission.kind === 'metered' ? admission.quota : undefined
        if (admission.kind !== 'answer') return quota?.decision
        refusal = new QuotaRefusal(admission)
        throw refusal
      })
      let response: Response
      try {
        response = await handler(request, ...args)
      } catch (error) {
        if (refusal !== undefined && error === refusal) return answered(meter, call, refusal.answer)
        throw error
      }
      return quota === undefined ? response : settled(quota, call, response)
    }
}

/**
 * Returns an error response for a request that was passed in place of a handler. The mistake is logged, not shown to
 * clients.
 */
function notWrapped(meter: HttpMeter<Call>): Response {
  const message = 'quotaFetch(options) is not a handler itself, it wraps one: quotaFetch(options)(handler)'
  return misused(meter.options.logger, message)
}

/** The options that are called with the handler's arguments. */
const OF_CALLS = ['subject', 'cost', 'plan', 'limits', 'skip', 'operation', 'address', 'locale']

/** Adapts these options to a single argument, as the shared code calls them. */
function ofCall(options: object): object {
  if (typeof options !== 'object' || options === null) return options
  const entries = Object.entries(options).map(([name, value]: [string, unknown]) => {
    if (typeof value !== 'function' || !OF_CALLS.includes(name)) return [name, value]
    return [name, ({ request, args }: Call): unknown => Reflect.apply(value, undefined, [request, ...args])]
  })
  return Object.fromEntries(entries) as object
}
