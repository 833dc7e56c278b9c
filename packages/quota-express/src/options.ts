import type { Counting, OneUnit } from '@scoregw/quota'
import type { HttpMeterOptions, MaybeAsync, QuotaAnswer, RouteOptions } from '@scoregw/quota/http'
import type { NextFunction, Request, Response } from 'express'

/**
 * Answers a request. The header fields are already on `res`; send status and body before you return, or return a
 * promise. If you send nothing, that is logged, and the request gets the default answer.
 */
export type QuotaHandler<Status extends QuotaAnswer['status'] = 429> = (
  req: Request,
  res: Response,
  next: NextFunction,
  answer: QuotaAnswer<Status>,
) => unknown

/** Express' additions to the options of every adapter, for single routes too. */
interface ExpressOptions {
  /**
   * Return `true` to leave a request unmetered.
   *
   * @default no request is skipped
   */
  readonly skip?: ((req: Request, res: Response) => MaybeAsync<boolean>) | undefined
  /**
   * Answers a refused request instead of the middleware, with a 429.
   *
   * @default JSON with the response's status and body
   */
  readonly handler?: QuotaHandler | undefined
  /**
   * Answers an anonymous request instead of the middleware, with a 401.
   *
   * @default JSON with the response's status and body
   */
  readonly onUnauthenticated?: QuotaHandler<401> | undefined
  /**
   * Answers a request instead of the middleware if the store is unavailable, with a 503.
   *
   * @default JSON with the response's status and body
   */
  readonly onUnavailable?: QuotaHandler<503> | undefined
}

/** Options that a single route can set. */
export interface QuotaRouteOptions<C extends Counting = OneUnit>
  extends Omit<RouteOptions<Request, C>, 'skip'>,
    ExpressOptions {}

/** The options of {@link quotaMiddleware}. */
export interface QuotaMiddlewareOptions<Operation extends string = string, C extends Counting = OneUnit>
  extends Omit<HttpMeterOptions<Request, Operation, C>, 'skip'>,
    ExpressOptions {
  /**
   * The property of a metered request that holds its `RequestQuota`.
   *
   * @default 'quota'
   */
  readonly requestPropertyName?: string | undefined
}

/** Options of middleware for a whole app. */
export interface QuotaAppOptions<Operation extends string = string, C extends Counting = OneUnit>
  extends QuotaMiddlewareOptions<Operation, C> {
  readonly operation: (req: Request) => MaybeAsync<NoInfer<Operation> | undefined>
}
