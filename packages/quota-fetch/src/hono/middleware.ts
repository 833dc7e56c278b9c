import type { Counting, Decision, OneOperation, OneUnit } from '@scoregw/quota'
import {
  type AdmittedRequest,
  type HttpAdapter,
  HttpMeter,
  type HttpMeterOptions,
  type MaybeAsync,
  type NodeRequest,
  type NodeResponse,
  type QuotaAnswer,
  QuotaRefusal,
  type RequestQuota,
  type RouteOptions,
  watchResponse,
} from '@scoregw/quota/http'
import {
  ANSWER_HANDLERS,
  answerHandlerChecks,
  answerHandlerOf,
  isPromiseLike,
  optional,
  type PendingResponse,
  textLike,
} from '@scoregw/quota/internal'
import type { Context, MiddlewareHandler } from 'hono'
import { answerResponse, goneResponse, misused, ownResponse } from '../answer-response.ts'
import { type Charge, chargeOf } from '../charge.ts'
import { settleAtHangUp, settleResponse } from '../settle-response.ts'

/**
 * Answers a request. Send the fields in `answer.headers`. If you return no `Response`, that is logged, and the request
 * gets the default answer.
 */
export type HonoHandler<Status extends QuotaAnswer['status'] = 429> = (
  c: Context,
  answer: QuotaAnswer<Status>,
) => MaybeAsync<Response>

interface HonoOptions {
  /**
   * Answers a refused request instead of the middleware, with a 429.
   *
   * @default JSON with the response's status and body
   */
  readonly handler?: HonoHandler | undefined
  /**
   * Answers an anonymous request instead of the middleware, with a 401.
   *
   * @default JSON with the response's status and body
   */
  readonly onUnauthenticated?: HonoHandler<401> | undefined
  /**
   * Answers a request instead of the middleware if the store is unavailable, with a 503.
   *
   * @default JSON with the response's status and body
   */
  readonly onUnavailable?: HonoHandler<503> | undefined
}

/** Options that a single route can set. */
export interface HonoRouteOptions<C extends Counting = OneUnit> extends RouteOptions<Context, C>, HonoOptions {}

/** The options of {@link quotaMiddleware}. */
export interface QuotaMiddlewareOptions<Operation extends string = string, C extends Counting = OneUnit>
  extends HttpMeterOptions<Context, Operation, C>,
    HonoOptions {
  /**
   * The variable that holds a metered request's `RequestQuota`: `c.get('quota')`.
   *
   * @default 'quota'
   */
  readonly variable?: string | undefined
}

/** Options of middleware for a whole app. */
export interface QuotaAppOptions<Operation extends string = string, C extends Counting = OneUnit>
  extends QuotaMiddlewareOptions<Operation, C> {
  readonly operation: (c: Context) => MaybeAsync<NoInfer<Operation> | undefined>
}

/** Middleware for single routes. */
export interface QuotaRoutes<Operation extends string = string, C extends Counting = OneUnit> {
  /**
   * Meters every request of a route as one operation.
   *
   * @param overrides options of this route
   * @throws {QuotaError} `unknown_operation`; `invalid_options` naming every fault
   * @example
   * app.post('/music', metered.operation('music.upsert'), handler)
   */
  operation(name: Operation, overrides?: Partial<HonoRouteOptions<C>>): MiddlewareHandler
  /**
   * Lets the handler of a route charge its request in the transaction of the work, by {@link charge}. A refusal is
   * thrown, so that the transaction is rolled back, and answered here when it leaves the handler.
   *
   * @param overrides options of this route, except those that settle
   * @throws {QuotaError} `unknown_operation`; `invalid_options` naming every fault; `store_unsupported` if the store has
   * no transactions
   * @example
   * app.post('/music', metered.inTransaction('music.upsert'), async (c) => {
   *   await db.transaction().execute(async (transaction) => {
   *     await metered.charge(c, transaction)
   *     await save(transaction, await c.req.json())
   *   })
   *   return c.json({})
   * })
   */
  inTransaction(name: Operation, overrides?: Partial<HonoRouteOptions<C>>): MiddlewareHandler
  /**
   * Charges a request in the transaction of its work. Only on routes with {@link inTransaction}.
   *
   * @param transaction of the store's kind, such as kysely's `Transaction`
   * @returns the decision; `undefined` if the request isn't metered
   * @throws {QuotaRefusal} if it is refused: let it leave the transaction, which is then rolled back
   * @throws {QuotaError} `invalid_options` on other routes
   */
  charge(c: Context, transaction: unknown): Promise<Decision<C> | undefined>
  /**
   * Returns the quota of a metered request, typed by the engine's units; `undefined` if it wasn't metered.
   * `c.get('quota')` is the same, with its type in `@scoregw/quota-fetch/augment`.
   *
   * @example
   * await metered.of(c)?.commit({ tokens: 812 })
   */
  of(c: Context): RequestQuota<C, C['cost']> | undefined
}

/** Middleware for a whole app, and for single routes. */
export interface QuotaMiddleware<Operation extends string = string, C extends Counting = OneUnit>
  extends MiddlewareHandler,
    QuotaRoutes<Operation, C> {}

const HONO: HttpAdapter<Context> = {
  name: 'quotaMiddleware()',
  method: ({ req }) => req.method,
  languages: ({ req }) => req.header('accept-language'),
  connection: ({ req }) => req.raw.signal,
  own: () => ({ ...answerHandlerChecks(), variable: optional(textLike(/./, 'a name')) }),
  ownOfRoutes: ANSWER_HANDLERS,
}

/**
 * Makes Hono middleware that meters requests. Pass `operation(c)` to meter a whole app, or mount `.operation(name)` per
 * route. A policy with one operation needs no `operation`.
 *
 * A request is charged before its handler. The status of the response settles it. Below 400 it stays charged. From 400
 * on it is refunded before the response is sent. A refused request gets a 429.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const metered = quotaMiddleware({ quota, subject: (c) => c.req.header('x-user') })
 * app.post('/music', metered.operation('music.upsert'), handler)
 */
export function quotaMiddleware<Operation extends string, C extends Counting = OneUnit>(
  options: QuotaMiddlewareOptions<Operation, C> & { readonly quota: OneOperation<C> },
): QuotaMiddleware<Operation, C>
export function quotaMiddleware<Operation extends string, C extends Counting = OneUnit>(
  options: QuotaAppOptions<Operation, C>,
): QuotaMiddleware<Operation, C>
export function quotaMiddleware<Operation extends string, C extends Counting = OneUnit>(
  options: QuotaMiddlewareOptions<Operation, C>,
): QuotaRoutes<Operation, C>
export function quotaMiddleware(options: QuotaMiddlewareOptions): QuotaRoutes {
  const meter = new HttpMeter(options, HONO)
  const { variable = 'quota' } = options
  const routes: QuotaRoutes = {
    operation: (name, overrides = {}) => metering(meter.operation(name, overrides)),
    inTransaction: (name, overrides = {}) => charging(meter.inTransaction(name, overrides)),
    charge: (c, transaction) => chargeOf(CHARGES.get(c))(transaction) as Promise<Decision<OneUnit> | undefined>,
    of: (c) => c.get(variable) as RequestQuota<OneUnit, number> | undefined,
  }
  return Object.assign(meter.options.operation === undefined ? withoutOperation(meter) : metering(meter), routes)
}

function metering(meter: HttpMeter<Context>): MiddlewareHandler {
  const { variable = 'quota' } = meter.options as unknown as QuotaMiddlewareOptions
  return async (c, next) => {
    const admitted = meter.admit(c, nodeOf(c)?.outgoing ?? pendingOf(c))
    // A needless `await` costs half as much as a decision.
    const admission = isPromiseLike(admitted) ? await admitted : admitted
    if (admission.kind === 'pass') {
      await next()
      return undefined
    }
    if (admission.kind === 'gone') return c.finalized ? undefined : goneResponse()
    if (admission.kind === 'answer') {
      if (admission.status === 429) c.set(variable, admission.quota)
      return answered(meter, c, admission)
    }
    warnIfTaken(meter, c, variable)
    c.set(variable, admission.quota)
    await goOn(c, next, admission)
    return undefined
  }
}

function warnIfTaken({ warnings }: HttpMeter<Context>, c: Context, variable: string): void {
  if (c.get(variable) === undefined) return
  const message = `c.get('${variable}') is already in use and was replaced; choose another name with variable`
  warnings.warnOnce('property_taken', message)
}

async function answered({ options }: HttpMeter<Context>, c: Context, answer: QuotaAnswer): Promise<Response> {
  const handler = answerHandlerOf<HonoHandler<QuotaAnswer['status']>>(options, answer)
  return handler === undefined
    ? answerResponse(answer)
    : ownResponse(await Promise.resolve(handler(c, answer)), answer, options.logger)
}

async function goOn(c: Context, next: () => Promise<void>, admission: AdmittedRequest): Promise<void> {
  const { quota } = admission
  const node = nodeOf(c)
  if (node !== undefined) watchResponse(admission, node.incoming, node.outgoing)
  else if (quota.settlesAtEnd) settleAtHangUp(quota, c.req.raw.signal)
  try {
    await next()
  } catch (error) {
    // Hono rethrows values that aren't an `Error`. A failed cancel is logged already.
    await quota.fail().catch(() => undefined)
    throw error
  }
  await settleAfter(c, admission)
}

/** Settles a request whose handler has returned, or whose error Hono has answered. */
async function settleAfter(c: Context, { quota }: AdmittedRequest): Promise<void> {
  if (!quota.watches) return
  // Hono has answered the error, so the handler failed.
  if (c.error !== undefined) await quota.fail().catch(() => undefined)
  const { res } = c
  const answer = settleResponse(quota, res, {
    method: c.req.method,
    isHungUp: () => c.req.raw.signal?.aborted === true,
    isWatched: nodeOf(c) !== undefined,
  })
  const settled = isPromiseLike(answer) ? await answer : answer
  if (settled !== res) replaceResponse(c, settled)
}

function replaceResponse(c: Context, response: Response): void {
  // Without this, Hono merges the old response's headers into the new one.
  c.res = undefined
  c.res = response
}

/** Charges of requests, for routes that charge in a transaction. */
const CHARGES = new WeakMap<Context, Charge>()

function charging(meter: HttpMeter<Context>): MiddlewareHandler {
  const { variable = 'quota' } = meter.options as unknown as QuotaMiddlewareOptions
  return async (c, next) => {
    let refusal: QuotaRefusal | undefined
    let admitted: AdmittedRequest | undefined
    // Another engine may charge the same request.
    const others = CHARGES.get(c)
    CHARGES.set(c, async (transaction) => {
      await Promise.resolve(others?.(transaction))
      const admission = await meter.admitInTransaction(c, transaction)
      admitted = admission.kind === 'metered' ? admission : undefined
      if (admission.kind === 'metered' || (admission.kind === 'answer' && admission.status === 429))
        c.set(variable, admission.quota)
      if (admission.kind !== 'answer') return admitted?.decision
      // Hono asks an error for its response. Otherwise it would log the refusal.
      refusal = Object.assign(new QuotaRefusal(admission), { getResponse: () => answerResponse(admission) })
      throw refusal
    })
    await next()
    if (refusal !== undefined && c.error === refusal) replaceResponse(c, await answered(meter, c, refusal.answer))
    else if (admitted !== undefined) {
      const node = nodeOf(c)
      if (node !== undefined) watchResponse(admitted, node.incoming, node.outgoing)
      await settleAfter(c, admitted)
    }
  }
}

/**
 * The Node response of an app on `@hono/node-server`. Setting fields there is much cheaper than changing a `Response`.
 */
function nodeOf({ env }: Context): NodeBindings | undefined {
  const { incoming, outgoing } = (env ?? {}) as Partial<NodeBindings>
  return incoming === undefined || typeof outgoing?.writeHead !== 'function' ? undefined : { incoming, outgoing }
}

/** Elsewhere than on Node, an app's response is known once another middleware has set it. */
function pendingOf(c: Context): PendingResponse {
  return {
    get headersSent() {
      return c.finalized
    },
    writableEnded: false,
  }
}

interface NodeBindings {
  readonly incoming: NodeRequest
  readonly outgoing: NodeResponse
}

/**
 * Replaces a middleware for a whole app that has no `operation(c)`. Hono reports the mistake with the first request.
 */
function withoutOperation({ options }: HttpMeter<Context>): MiddlewareHandler {
  const message =
    'this policy has several operations: pass operation(c) to quotaMiddleware(), or mount .operation(name) on each route'
  return async () => misused(options.logger, message)
}
