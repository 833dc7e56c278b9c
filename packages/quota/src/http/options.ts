import type { Decision } from '../decision/decision.ts'
import type { Quota } from '../engine/quota.ts'
import type { CommitResult } from '../engine/requests.ts'
import type { Check } from '../options/checks.ts'
import type { QuotaLogger } from '../options/logger.ts'
import type { Cost, Counting, OneUnit, UnitsOf } from '../policy/units.ts'
import type { FieldsOption, StandardHeaders } from './headers.ts'
import type { NodeRequest } from './node/response-gate.ts'
import type { Locale, MessageTexts, QuotaAnswers } from './texts.ts'
import type { QuotaWarningCode, ValidateOption } from './warnings.ts'

/** A value, or a promise of one. */
export type MaybeAsync<T> = T | PromiseLike<T>

/**
 * When a request is charged for good, and by which outcome.
 *
 * - `outcome`: charged before the handler and given back when the response's status is 400 or above, both before its
 *   head leaves.
 * - `end`: a hold, which is kept alive while the response is in flight: the handler may commit the actual cost until the last
 *   byte leaves, also above the charge. A hold that is still open then is settled by the status. On a store without holds
 *   the tokens are charged until then, and a cost above them is refused.
 * - `failures`: charged before the handler and given back when the response succeeds. Only failures count, such as wrong
 *   passwords. A handler that throws, a caller that hangs up and a process that dies leave the charge. Not for operations
 *   that need a slot.
 * - `charge-first`: charged before the handler, never given back; not for operations that need a slot.
 *
 * Operations that need a slot are holds in either way: judged by the status, and settled when the response ends.
 */
export type SettleMode = 'outcome' | 'end' | 'failures' | 'charge-first'

/** What happens to a request without a subject: a 401, no metering, or metering by its network address. */
export type AnonymousMode = 'reject' | 'skip' | 'ip'

/** Options of one route; `Request` is the framework's type of a request. */
export interface RouteOptions<Request, C extends Counting = Counting> {
  /**
   * Returns the subject: a string, or an object with a key per layer if several layers aren't shared. For `undefined`
   * and `null` see {@link anonymous}. Never use data that a client can choose freely. Required, unless `anonymous` is
   * `'ip'`.
   *
   * @default every request is anonymous
   */
  readonly subject?: ((request: Request) => MaybeAsync<C['names']['subject'] | null | undefined>) | undefined
  /**
   * The amount to charge instead of the operation's price: a whole number, 0 or more; with several units, amounts by
   * unit. A function can read the parsed body, and return `undefined` for the price.
   *
   * @default the operation's price
   */
  readonly cost?: C['cost'] | ((request: Request) => MaybeAsync<C['cost'] | undefined>) | undefined
  /** @default 'outcome' */
  readonly settle?: SettleMode | undefined
  /**
   * Which response status is a failure, for `settle: 'failures'`. If your handler redirects in both cases, call
   * `commit()` for a failure and `cancel()` for a success.
   *
   * @default 400 and above
   */
  readonly isFailure?: ((status: number) => boolean) | undefined
  /**
   * How long a hold lasts once it is no longer kept alive, in milliseconds. A process that dies keeps tokens and slots
   * for this long. Used by `settle: 'end'` and by operations that need a slot.
   *
   * @default the engine's `holdTtlMs`
   */
  readonly ttlMs?: number | undefined
  /**
   * If a response of `settle: 'end'` closes early with an unsettled hold, the handler can still commit or cancel for
   * this long, in milliseconds. At most the hold's lifetime.
   *
   * @default 5_000
   */
  readonly abortGraceMs?: number | undefined
  /**
   * How such a hold is settled after that: charged in full, or refunded.
   *
   * @default 'commit'
   */
  readonly abortedAs?: 'commit' | 'cancel' | undefined
  /**
   * The subject's plan, for example from the claims of a token; `undefined`: none. A plan in the subject's stored
   * settings takes precedence.
   */
  readonly plan?: C['names']['plan'] | ((request: Request) => C['names']['plan'] | undefined) | undefined
  /**
   * `true`: this request is not metered.
   *
   * @default no request is skipped
   */
  readonly skip?: ((request: Request) => MaybeAsync<boolean>) | undefined
  /** @default 'reject' */
  readonly anonymous?: AnonymousMode | undefined
  /**
   * How long a request waits for its limits before it's refused, in milliseconds, 0 to 86_400_000. It waits in the engine's
   * queue, see `@scoregw/quota/waiting`, and leaves it when its client disconnects.
   *
   * @default no wait
   */
  readonly maxWaitMs?: number | undefined
}

/** Options of every adapter; `Request` is the framework's type of a request. */
export interface HttpMeterOptions<Request, Operation extends string = string, C extends Counting = Counting>
  extends RouteOptions<Request, NoInfer<C>> {
  /** The engine that decides. */
  readonly quota: Quota<Operation, C>
  /**
   * The operation that a request is charged as; `undefined`: it is not metered. Set it to serve a whole app.
   *
   * @default the one operation of an engine from simpleQuota()
   */
  readonly operation?: ((request: Request) => NoInfer<Operation> | undefined) | undefined
  /**
   * The caller's network address, for `anonymous: 'ip'`. Return one that the caller cannot choose.
   *
   * @default the framework's address; required with `anonymous: 'ip'` if the framework has none that can be trusted
   */
  readonly address?: ((request: Request) => string | undefined) | undefined
  /**
   * How many leading bits of an IPv6 address identify one caller, 1 to 128.
   *
   * @default 56
   */
  readonly ipv6Subnet?: number | undefined
  /**
   * Sends `RateLimit` and `RateLimit-Policy` of that draft with every response of a metered request. Both names mean
   * the same syntax.
   *
   * @default false
   */
  readonly standardHeaders?: StandardHeaders | false | undefined
  /**
   * Which limits these fields name: each, or one. One is the limit that admits the fewest further requests with this
   * cost; in a refusal, the binding limit.
   *
   * @default 'one'
   */
  readonly fields?: FieldsOption | undefined
  /**
   * Sends the older fields with every response of a metered request: `X-RateLimit-Limit`, `X-RateLimit-Remaining`, and
   * `X-RateLimit-Reset` in whole seconds since the epoch. They name the limit that `fields: 'one'` names. A response
   * that already has such fields keeps them.
   *
   * @default false
   */
  readonly legacyHeaders?: boolean | undefined
  /**
   * Which misconfigurations are detected and logged, each once: all, none, or all except those that are `false`.
   *
   * @default true
   */
  readonly validate?: ValidateOption | undefined
  /**
   * Receives misconfigurations, and errors of refunds that failed; `false` silences it.
   *
   * @default the console
   */
  readonly logger?: QuotaLogger | false | undefined
  /**
   * The language of responses.
   *
   * @default from `Accept-Language`; English if it names neither language
   */
  readonly locale?: Locale | ((request: Request) => Locale) | undefined
  /**
   * Makes the body of a 429.
   *
   * @default the policy's `answers`, else `neutralAnswers()`
   */
  readonly answers?: QuotaAnswers | undefined
  /** Your own texts, by locale. */
  readonly messages?: MessageTexts | undefined
  /**
   * `true`: sends problem details (RFC 9457), `application/problem+json`.
   *
   * @default false
   */
  readonly problemDetails?: boolean | undefined
  /**
   * The challenge of a 401, in its field `WWW-Authenticate`.
   *
   * @default 'Bearer'
   */
  readonly wwwAuthenticate?: string | undefined
}

/**
 * The units that handlers count, for exact types of `req.quota`. A middleware's own `of(req)` has them from its engine;
 * elsewhere declare them once:
 * `declare module '@scoregw/quota/http' { interface HandlerUnits { units: 'requests' | 'tokens' } }`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: applications add to it
export interface HandlerUnits {}

/** {@link HandlerUnits} as types use them; tokens if you don't declare them. */
export type UnitsOfHandlers = HandlerUnits extends { readonly units: infer Unit extends string }
  ? UnitsOf<Unit>
  : OneUnit

/** Costs that a handler can settle: any unit if you don't declare them. They are checked when they are charged. */
export type CostOfHandlers<C extends Counting> = HandlerUnits extends { readonly units: string }
  ? C['cost']
  : C extends UnitsOfHandlers
    ? Cost
    : C['cost']

/** The quota of one request, for its handler. */
export interface RequestQuota<C extends Counting = UnitsOfHandlers, Given extends Cost = CostOfHandlers<C>> {
  /** The decision before the handler. */
  readonly decision: Decision<C>
  /** What the request is charged so far; final once it is settled. */
  readonly charged: C['amount']
  /**
   * The work was done, whatever the response's status will be. Settles once; later calls do nothing.
   *
   * Errors reject, and are logged, so that an error of a call without `await` is not lost: `commit_above_reservation` and
   * `invalid_cost` leave the request to be settled by its outcome; `quota_unavailable` leaves it charged, and a hold to its
   * end; `reservation_expired` and `reservation_cancelled` mean that a hold is over: it ended, or it was settled without
   * its handler, at the end of its response or some time after that closed early.
   *
   * @param actual what it cost; the rest goes back. Above those reserved with `settle: 'end'` alone, by the operation's
   * `overrun`. Default: all of them
   */
  commit(actual?: Given): Promise<CommitResult<C>>
  /** Refunds the tokens: the work was not done, or nothing failed. Settles once. Errors: see {@link commit}. */
  cancel(): Promise<void>
  /**
   * With `settle: 'end'`: charges more, in every window or in none.
   *
   * @returns the decision; if it refuses, the request keeps its earlier charge
   * @throws {QuotaError} `hold_required`, `invalid_cost`, `reservation_expired`
   */
  add(cost: Given): Promise<Decision<C>>
  /**
   * With `settle: 'end'`: makes the hold last this many milliseconds from now, if that is later than its end. While the
   * response is in flight, it is kept alive anyway.
   *
   * @param ttlMs default: the time it was reserved for
   * @returns when it expires then, epoch milliseconds by the store's clock
   * @throws {QuotaError} `hold_required`, `invalid_ttl`, `reservation_expired`
   */
  extend(ttlMs?: number): Promise<number>
}

/** How an adapter reads its framework's requests. */
export interface HttpAdapter<Request> {
  /** The adapter's name in messages, for example `quotaMiddleware()`. */
  readonly name: string
  /** The request's method, in capitals. */
  method(request: Request): string
  /** The field `Accept-Language`. */
  languages(request: Request): string | undefined
  /**
   * The caller's network address, which the caller cannot choose. Omit it if the framework has none: `anonymous: 'ip'`
   * then requires the option `address`.
   */
  readonly address?: ((request: Request) => string | undefined) | undefined
  /** Aborts when the caller disconnects. A remote store then stops waiting. */
  readonly signal?: ((request: Request) => AbortSignal | undefined) | undefined
  /** Ends with the caller's connection: a signal, or Node's message. Waiting requests then leave the queue. */
  readonly connection?: ((request: Request) => AbortSignal | NodeRequest | undefined) | undefined
  /** Reports a misconfiguration of the framework's addresses, before an address is used. */
  readonly proxyFault?: ((request: Request) => ProxyFault | undefined) | undefined
  /**
   * The object that carries a request's quotas. All meters of the request see the same one.
   *
   * @default the request
   */
  readonly carrier?: ((request: Request) => object) | undefined
  /** Checks of the adapter's own options, made with `@scoregw/quota/options`. */
  readonly own?: (() => Readonly<Record<string, Check<unknown>>>) | undefined
  /** Which of {@link own} a single route can set. */
  readonly ownOfRoutes?: readonly string[] | undefined
}

/** How addresses are misconfigured. */
export interface ProxyFault {
  readonly code: QuotaWarningCode
  readonly message: string
}

/** A request as plain values, if you have read them already. */
export interface HttpRequest<Operation extends string = string, C extends Counting = Counting> {
  readonly method: string
  /** `undefined`: not metered. */
  readonly operation: Operation | undefined
  /** The subject. */
  readonly subject?: C['names']['subject'] | null | undefined
  /** Tokens, or amounts by unit, instead of the operation's price. */
  readonly cost?: C['cost'] | undefined
  /** The plan of the subject. */
  readonly plan?: C['names']['plan'] | undefined
  /** The caller's network address. */
  readonly address?: string | undefined
  /** The field `Accept-Language`. */
  readonly languages?: string | undefined
  /** Ends the wait for a store. */
  readonly signal?: AbortSignal | undefined
}

/** Reads requests that are plain values. */
export const PLAIN: HttpAdapter<HttpRequest> = {
  name: 'httpMeter()',
  method: ({ method }) => method,
  languages: ({ languages }) => languages,
  address: ({ address }) => address,
  signal: ({ signal }) => signal,
  connection: ({ signal }) => signal,
}

export const PLAIN_OPTIONS = {
  subject: ({ subject }: HttpRequest): HttpRequest['subject'] => subject,
  operation: ({ operation }: HttpRequest): string | undefined => operation,
  cost: ({ cost }: HttpRequest): Cost | undefined => cost,
  plan: ({ plan }: HttpRequest): string | undefined => plan,
} as const
