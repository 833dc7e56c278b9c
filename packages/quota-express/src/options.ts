import type { Counting, OneUnit } from '@scoregw/quota'
import type { HttpMeterOptions, MaybeAsync, QuotaAnswer, RouteOptions } from '@scoregw/quota/http'
import type { NextFunction, Request, Response } from 'express'

/** Answers a request that may not go on; the header fields are already on `res`, status and body are not. */
export type QuotaHandler = (req: Request, res: Response, next: NextFunction, answer: QuotaAnswer) => unknown

/** What Express adds to the options of every adapter, for single routes too. */
interface ExpressOptions {
  /**
   * `true`: this request is not metered.
   * @default none is skipped
   */
  readonly skip?: ((req: Request, res: Response) => MaybeAsync<boolean>) | undefined
  /**
   * Answers in place of the middleware: 429, 401 of an anonymous request, 503 when the store is away.
   * @default JSON with the answer's status and body
   */
  readonly handler?: QuotaHandler | undefined
}

/** What one route may set for itself. */
export interface QuotaRouteOptions<C extends Counting = OneUnit>
  extends Omit<RouteOptions<Request, C>, 'skip'>,
    ExpressOptions {}

/** The options of {@link quotaMiddleware}. */
export interface QuotaMiddlewareOptions<Operation extends string = string, C extends Counting = OneUnit>
  extends Omit<HttpMeterOptions<Request, Operation, C>, 'skip'>,
    ExpressOptions {
  /**
   * Where a metered request carries its `RequestQuota`.
   * @default 'quota'
   */
  readonly requestPropertyName?: string | undefined
}

/** Options of a middleware that serves a whole app. */
export interface QuotaAppOptions<Operation extends string = string, C extends Counting = OneUnit>
  extends QuotaMiddlewareOptions<Operation, C> {
  readonly operation: (req: Request) => NoInfer<Operation> | undefined
}
