import type { Counting, OneUnit } from '@scoregw/quota'
import type { HttpMeterOptions, MaybeAsync, QuotaAnswer, RouteOptions, SettleMode } from '@scoregw/quota/http'

type FunctionNames = 'subject' | 'cost' | 'plan' | 'skip'

/** A function of the handler's arguments: the request, and any further ones of its framework. */
type OfCall<T> = (request: Request, ...args: never[]) => T

/** Answers a request that may not go on, with the fields `answer.headers`. */
export type QuotaHandler = (answer: QuotaAnswer, request: Request, ...args: never[]) => MaybeAsync<Response>

/** What one route may set for itself. */
export interface QuotaRouteOptions<C extends Counting = OneUnit> extends Omit<RouteOptions<Request, C>, FunctionNames> {
  /**
   * The subject: a string; with several layers that are not shared an object with a key for each. `undefined`, `null`: see
   * {@link anonymous}.
   * Never take it from data that a client may choose freely.
   */
  readonly subject?: OfCall<ReturnType<NonNullable<RouteOptions<Request, C>['subject']>>> | undefined
  /**
   * Tokens instead of the operation's price, a whole number, 0 or more; where the policy has several units, amounts by
   * unit. A function may look at a clone of the request and answer `undefined` for the price.
   * @default the operation's price
   */
  readonly cost?: C['cost'] | OfCall<MaybeAsync<C['cost'] | undefined>> | undefined
  /**
   * The plan of the subject; `undefined`: none. One in the subject's stored settings comes first.
   */
  readonly plan?: C['names']['plan'] | OfCall<C['names']['plan'] | undefined> | undefined
  /**
   * `true`: this request is not metered.
   * @default none is skipped
   */
  readonly skip?: OfCall<MaybeAsync<boolean>> | undefined
  /** @default 'outcome' */
  readonly settle?: SettleMode | undefined
  /**
   * Answers in place of the meter: 429, 401 of an anonymous request, 503 when the store is away.
   * @default JSON with the answer's status and body
   */
  readonly handler?: QuotaHandler | undefined
}

/** The options of {@link quotaFetch}. */
export interface QuotaFetchOptions<Operation extends string = string, C extends Counting = OneUnit>
  extends Omit<HttpMeterOptions<Request, Operation, C>, FunctionNames | 'operation' | 'address' | 'locale'>,
    QuotaRouteOptions<NoInfer<C>> {
  /** The operation a request is charged as; `undefined`: it is not metered. Needed for `metered(handler)`. */
  readonly operation?: OfCall<NoInfer<Operation> | undefined> | undefined
  /**
   * The network address of a caller, for `anonymous: 'ip'`, which requires it: a `Request` has none that can be trusted.
   */
  readonly address?: OfCall<string | undefined> | undefined
  /**
   * Language of answers.
   * @default by `Accept-Language`, English when it names neither language
   */
  readonly locale?: 'en' | 'zh-CN' | OfCall<'en' | 'zh-CN'> | undefined
}
