import type { Counting, OneUnit } from '@scoregw/quota'
import type {
  HttpMeterOptions,
  MaybeAsync,
  QuotaAnswer,
  RequestLimits,
  RouteOptions,
  SettleMode,
} from '@scoregw/quota/http'

type FunctionNames = 'subject' | 'cost' | 'plan' | 'limits' | 'skip'

/** A function of the handler's arguments: the request, and any others that the framework passes. */
type OfCall<T> = (request: Request, ...args: never[]) => T

/**
 * Answers a request. Send the fields in `answer.headers`. If you return no `Response`, that is logged, and the request
 * gets the default answer.
 */
export type QuotaHandler<Status extends QuotaAnswer['status'] = 429> = (
  answer: QuotaAnswer<Status>,
  request: Request,
  ...args: never[]
) => MaybeAsync<Response>

/** Options that a single route can set. */
export interface QuotaRouteOptions<C extends Counting = OneUnit> extends Omit<RouteOptions<Request, C>, FunctionNames> {
  /**
   * Returns the subject: a string, or an object with a key for each `by` if limits have several. For `undefined`, `null`
   * and blank keys see {@link anonymous}. Never use data that a client can choose freely.
   */
  readonly subject?: OfCall<ReturnType<NonNullable<RouteOptions<Request, C>['subject']>>> | undefined
  /**
   * The amount to charge instead of the operation's price: a whole number, 0 or more; with several units, amounts by
   * unit. A function can read a clone of the request, and return `undefined` for the price.
   *
   * @default the operation's price
   */
  readonly cost?: C['cost'] | OfCall<MaybeAsync<C['cost'] | undefined>> | undefined
  /** The subject's plan; `undefined`: no plan. A plan in the subject's stored settings takes precedence. */
  readonly plan?: C['names']['plan'] | OfCall<MaybeAsync<C['names']['plan'] | undefined>> | undefined
  /**
   * Numbers of the subject's own limits from your data, by name; `undefined` and `null`: none. Numbers in the subject's
   * stored settings take precedence.
   */
  readonly limits?: RequestLimits<C> | OfCall<MaybeAsync<RequestLimits<C> | null | undefined>> | undefined
  /**
   * Return `true` to leave a request unmetered.
   *
   * @default no request is skipped
   */
  readonly skip?: OfCall<MaybeAsync<boolean>> | undefined
  /** @default 'outcome' */
  readonly settle?: SettleMode | undefined
  /**
   * Answers a refused request instead of the meter, with a 429.
   *
   * @default JSON with the response's status and body
   */
  readonly handler?: QuotaHandler | undefined
  /**
   * Answers an anonymous request instead of the meter, with a 401.
   *
   * @default JSON with the response's status and body
   */
  readonly onUnauthenticated?: QuotaHandler<401> | undefined
  /**
   * Answers a request instead of the meter if the store is unavailable, with a 503.
   *
   * @default JSON with the response's status and body
   */
  readonly onUnavailable?: QuotaHandler<503> | undefined
}

/** The options of {@link quotaFetch}. */
export interface QuotaFetchOptions<Operation extends string = string, C extends Counting = OneUnit>
  extends Omit<HttpMeterOptions<Request, Operation, C>, FunctionNames | 'operation' | 'address' | 'locale'>,
    QuotaRouteOptions<NoInfer<C>> {
  /** Returns the operation to charge; `undefined`: the request isn't metered. Required for `metered(handler)`. */
  readonly operation?: OfCall<MaybeAsync<NoInfer<Operation> | undefined>> | undefined
  /**
   * Returns the caller's network address. Required with `anonymous: 'ip'`, because a `Request` has no trustworthy
   * address.
   */
  readonly address?: OfCall<string | undefined> | undefined
  /**
   * The language of responses.
   *
   * @default from `Accept-Language`; English if it names neither language
   */
  readonly locale?: 'en' | 'zh-CN' | OfCall<'en' | 'zh-CN'> | undefined
}
