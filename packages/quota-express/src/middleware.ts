import type { Counting, Decision, OneOperation, OneUnit } from '@scoregw/quota'
import { HttpMeter, type HttpMeterOptions, type RequestQuota } from '@scoregw/quota/http'
import type { Request, RequestHandler, Response } from 'express'
import { EXPRESS } from './adapter.ts'
import { charge, chargeInTransaction } from './in-transaction.ts'
import { meterRequests } from './meter-requests.ts'
import type { QuotaAppOptions, QuotaMiddlewareOptions, QuotaRouteOptions } from './options.ts'
import { isGivenRequest, withoutOperation } from './wrong-use.ts'

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
  operation(name: Operation, overrides?: Partial<QuotaRouteOptions<C>>): RequestHandler
  /**
   * Lets the handler of a route charge its request in the transaction of the work, by {@link charge}. A refusal is
   * thrown, so that the transaction is rolled back, and answered by {@link quotaErrorHandler}.
   *
   * @param overrides options of this route, except those that settle
   * @throws {QuotaError} `unknown_operation`; `invalid_options` naming every fault; `store_unsupported` if the store has
   * no transactions
   * @example
   * app.post('/music', metered.inTransaction('music.upsert'), async (req, res) => {
   *   await db.transaction().execute(async (transaction) => {
   *     await metered.charge(req, transaction)
   *     await transaction.insertInto('music').values(req.body).execute()
   *   })
   *   res.json({})
   * })
   * app.use(quotaErrorHandler())
   */
  inTransaction(name: Operation, overrides?: Partial<QuotaRouteOptions<C>>): RequestHandler
  /**
   * Charges a request in the transaction of its work. Only on routes with {@link inTransaction}. `req.charge()` is the
   * same, with its type in `@scoregw/quota-express/augment`.
   *
   * @param transaction of the store's kind, such as kysely's `Transaction`
   * @returns the decision; `undefined` if the request isn't metered
   * @throws {QuotaRefusal} if it is refused: let it leave the transaction, which is then rolled back
   * @throws {QuotaError} `invalid_options` on other routes
   */
  charge(req: Request, transaction: unknown): Promise<Decision<C> | undefined>
  /**
   * Returns the quota of a metered request, typed by the engine's units; `undefined` if it wasn't metered. `req.quota`
   * is the same, with its type in `@scoregw/quota-express/augment`.
   *
   * @example
   * await metered.of(req)?.commit({ tokens: 812 })
   */
  of(req: Request): RequestQuota<C, C['cost']> | undefined
}

/** Middleware for a whole app, and for single routes. */
export interface QuotaMiddleware<Operation extends string = string, C extends Counting = OneUnit>
  extends RequestHandler,
    QuotaRoutes<Operation, C> {}

/**
 * Makes Express middleware that meters requests. Pass `operation(req)` to meter a whole app, or mount
 * `.operation(name)` per route. A policy with one operation needs no `operation`.
 *
 * A request is charged before its handler. The status of the response settles it. Below 400 it stays charged. From 400
 * on it is refunded before the head is sent. A refused request gets a 429.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const metered = quotaMiddleware({ quota, subject: (req) => req.get('x-user') })
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
export function quotaMiddleware(options: QuotaMiddlewareOptions, ...rest: readonly unknown[]): QuotaRoutes {
  if (isGivenRequest([options, ...rest], console)) return undefined as never
  const meter = new HttpMeter(ofRequest(options), EXPRESS)
  const {
    operation,
    logger,
    requestPropertyName = 'quota',
  } = meter.options as typeof meter.options & QuotaMiddlewareOptions
  const routes: QuotaRoutes = {
    operation: (name, overrides = {}) => meterRequests(meter.operation(name, ofRequest(overrides))),
    inTransaction: (name, overrides = {}) => chargeInTransaction(meter.inTransaction(name, ofRequest(overrides))),
    charge: (req, transaction) => charge(req, transaction) as Promise<Decision<OneUnit> | undefined>,
    of: (req) => (req as unknown as Record<string, RequestQuota<OneUnit, number> | undefined>)[requestPropertyName],
  }
  return Object.assign(operation === undefined ? withoutOperation(logger) : meterRequests(meter), routes)
}

/** Adapts `skip`, which here also takes the response, to the shared options. */
function ofRequest<T extends Partial<QuotaMiddlewareOptions>>(options: T): T & HttpMeterOptions<Request> {
  const skip: unknown = options?.skip
  if (typeof skip !== 'function') return options as T & HttpMeterOptions<Request>
  const ofBoth = skip as NonNullable<QuotaMiddlewareOptions['skip']>
  return { ...options, skip: (req: Request) => ofBoth(req, req.res as Response) } as T & HttpMeterOptions<Request>
}
