import type { Decision } from '../decision/decision.ts'
import type { Quota } from '../engine/quota.ts'
import type { CommitResult, QuotaRequest } from '../engine/requests.ts'
import type { Check } from '../options/checks.ts'
import type { QuotaLogger } from '../options/logger.ts'
import type { Cost, Counting, OneUnit } from '../policy/units.ts'
import type { FieldsOption, StandardHeaders } from './headers.ts'
import type { NodeRequest } from './node/response-gate.ts'
import type { Locale, MessageTexts, QuotaAnswers } from './texts.ts'
import type { ProxyFault, ValidateOption } from './warnings.ts'

/** A value, or a promise of one. */
export type MaybeAsync<T> = T | PromiseLike<T>

/**
 * When a request is charged for good, and which outcome decides.
 *
 * - `outcome`: charged before the handler. Refunded if the response's status is 400 or above. Either is done before the
 *   head is sent.
 * - `end`: a hold, kept alive while the response is in flight. Until the last byte, the handler may commit the actual
 *   cost, even above the charge. A hold that is still open then is settled by the status. On a store without holds, the
 *   tokens stay charged until then, and you can't commit more than them.
 * - `failures`: charged before the handler. Refunded if the response succeeds, so that only failures count, such as
 *   wrong passwords. The charge also stays if the handler throws, the client hangs up or the process crashes. Not for
 *   operations that need a slot.
 * - `charge-first`: charged before the handler and never refunded. Not for operations that need a slot.
 *
 * Operations that need a slot are holds with `outcome` too. The status decides, and they are settled when the response
 * ends.
 */
export type SettleMode = 'outcome' | 'end' | 'failures' | 'charge-first'

/** Decides about a request without a subject: a 401, no metering, or metering by network address. */
export type AnonymousMode = 'reject' | 'skip' | 'ip'

/** Numbers of limits that come with a request. */
export type RequestLimits<C extends Counting = Counting> = NonNullable<QuotaRequest<string, C>['limits']>

/** Options of a single route. `Request` is the framework's request type. */
export interface RouteOptions<Request, C extends Counting = Counting> {
  /**
   * Returns the subject: a string, or an object with a key for each `by` if limits have several. For `undefined`, `null`,
   * an empty text, and an object whose keys are all of these, see {@link anonymous}. Never use data that a client can choose freely. Required, unless `anonymous` is
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
   * How long the handler can still commit or cancel after a response of `settle: 'end'` closes early, in milliseconds.
   * At most the hold's lifetime.
   *
   * @default 5_000
   */
  readonly abortGraceMs?: number | undefined
  /**
   * How to settle such a hold after that: charge it in full, or refund it.
   *
   * @default 'commit'
   */
  readonly abortedAs?: 'commit' | 'cancel' | undefined
  /**
   * The subject's plan, for example from the claims of a token; `undefined`: no plan. A plan in the subject's stored
   * settings takes precedence.
   */
  readonly plan?: C['names']['plan'] | ((request: Request) => MaybeAsync<C['names']['plan'] | undefined>) | undefined
  /**
   * Numbers of the subject's own limits from your data, by name; `undefined` and `null`: none. Numbers in the subject's
   * stored settings take precedence. Called after {@link subject}, for requests that have one.
   *
   * @example
   * limits: async (req) => ({ perMinute: (await accountOf(req)).requestsPerMinute })
   */
  readonly limits?:
    | RequestLimits<C>
    | ((request: Request) => MaybeAsync<RequestLimits<C> | null | undefined>)
    | undefined
  /**
   * Return `true` to leave a request unmetered.
   *
   * @default no request is skipped
   */
  readonly skip?: ((request: Request) => MaybeAsync<boolean>) | undefined
  /** @default 'reject' */
  readonly anonymous?: AnonymousMode | undefined
  /**
   * How long a request waits for its limits before it's refused, in milliseconds, 0 to 86_400_000. It waits in the
   * engine's queue (see `@scoregw/quota/waiting`), unless its client disconnects.
   *
   * @default no wait
   */
  readonly maxWaitMs?: number | undefined
}

/** Options of every adapter. `Request` is the framework's request type. */
export interface HttpMeterOptions<Request, Operation extends string = string, C extends Counting = Counting>
  extends RouteOptions<Request, NoInfer<C>> {
  /** The engine that decides. */
  readonly quota: Quota<Operation, C>
  /**
   * Returns the operation to charge; `undefined`: the request isn't metered. Set it to meter a whole app.
   *
   * @default the policy's operation, if it has only one
   */
  readonly operation?: ((request: Request) => MaybeAsync<NoInfer<Operation> | undefined>) | undefined
  /**
   * Returns the caller's network address, for `anonymous: 'ip'`. It must be one that the caller can't choose.
   *
   * @default the framework's address; required with `anonymous: 'ip'` if the framework has no trustworthy one
   */
  readonly address?: ((request: Request) => string | undefined) | undefined
  /**
   * How many leading bits of an IPv6 address identify one caller, 1 to 128.
   *
   * @default 56
   */
  readonly ipv6Subnet?: number | undefined
  /**
   * Sends `RateLimit` and `RateLimit-Policy` of this draft with every response of a metered request. Both drafts have
   * the same syntax.
   *
   * @default false
   */
  readonly standardHeaders?: StandardHeaders | false | undefined
  /**
   * Which limits these fields name: each, or only one. That is the limit that admits the fewest further requests with
   * this cost; in a refusal, the one that it reports.
   *
   * @default 'one'
   */
  readonly fields?: FieldsOption | undefined
  /**
   * Sends the older fields with every response of a metered request: `X-RateLimit-Limit`, `X-RateLimit-Remaining`, and
   * `X-RateLimit-Reset` in whole seconds since the epoch. They name the same limit as `fields: 'one'`. If a response
   * already has such fields, they stay.
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
   * Receives misconfigurations and errors of failed refunds; `false`: no logs.
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
   * Builds the body of a 429.
   *
   * @default the policy's `answers`, else `neutralAnswers()`
   */
  readonly answers?: QuotaAnswers | undefined
  /** Your own texts, by locale. */
  readonly messages?: MessageTexts | undefined
  /**
   * Sends error bodies as problem details (RFC 9457), `application/problem+json`.
   *
   * @default false
   */
  readonly problemDetails?: boolean | undefined
  /**
   * The challenge of a 401, sent in `WWW-Authenticate`.
   *
   * @default 'Bearer'
   */
  readonly wwwAuthenticate?: string | undefined
}

/**
 * The quota of one request, for its handler. A middleware's own `of(req)` has the units of its engine.
 *
 * @typeParam Given the costs that a handler can settle. By default any, and the call validates it
 */
export interface RequestQuota<C extends Counting = OneUnit, Given extends Cost = C extends OneUnit ? Cost : C['cost']> {
  /** The decision that admitted or refused the request. */
  readonly decision: Decision<C>
  /** The request's charge so far. Final once it is settled. */
  readonly charged: C['amount']
  /**
   * Confirms that the work was done, whatever the response's status. Settles once; later calls do nothing.
   *
   * Errors reject. They are also logged, so that you see them without `await`.
   *
   * - `commit_above_reservation` and `invalid_cost`: the request is still open, and its outcome settles it.
   * - `quota_unavailable`: the request stays charged. A hold stays until it expires.
   * - `reservation_expired` and `reservation_cancelled`: too late. The hold expired, or was settled without the handler
   *   at the end of its response, or some time after the response closed early.
   *
   * @param actual the actual cost; the rest is refunded. More than the reservation only with `settle: 'end'`, where the
   * operation's `overrun` decides. Default: the whole reservation
   */
  commit(actual?: Given): Promise<CommitResult<C>>
  /** Refunds the tokens, because the work wasn't done or nothing failed. Settles once. Errors: see {@link commit}. */
  cancel(): Promise<void>
  /**
   * With `settle: 'end'`: charges more, in all windows or in none.
   *
   * @returns the decision; if it refuses, the earlier charge stays
   * @throws {QuotaError} `hold_required`, `invalid_cost`, `reservation_expired`
   */
  add(cost: Given): Promise<Decision<C>>
  /**
   * With `settle: 'end'`: makes the hold expire this many milliseconds from now, unless it lasts longer anyway. While
   * the response is in flight, you don't need it: the hold is kept alive.
   *
   * @param ttlMs default: the hold's lifetime when it was reserved
   * @returns when the hold expires, in epoch milliseconds of the store's clock
   * @throws {QuotaError} `hold_required`, `invalid_ttl`, `reservation_expired`
   */
  extend(ttlMs?: number): Promise<number>
}

/** How an adapter reads its framework's requests. */
export interface HttpAdapter<Request> {
  /** The adapter's name in error messages, for example `quotaMiddleware()`. */
  readonly name: string
  /** The request's method, in capitals. */
  method(request: Request): string
  /** The value of `Accept-Language`. */
  languages(request: Request): string | undefined
  /**
   * Returns the caller's network address. It must be one that the caller can't choose. Omit it if the framework has
   * none: then `anonymous: 'ip'` requires the option `address`.
   */
  readonly address?: ((request: Request) => string | undefined) | undefined
  /** A signal that aborts when the client disconnects. Calls to a remote store then stop waiting. */
  readonly signal?: ((request: Request) => AbortSignal | undefined) | undefined
  /** The client's connection: a signal, or Node's message. When it ends, a waiting request leaves the queue. */
  readonly connection?: ((request: Request) => AbortSignal | NodeRequest | undefined) | undefined
  /** Checks how the framework determines addresses, before one is used. Returns a misconfiguration. */
  readonly proxyFault?: ((request: Request) => ProxyFault | undefined) | undefined
  /**
   * The object that stores a request's quotas. All meters of a request must get the same object.
   *
   * @default the request
   */
  readonly carrier?: ((request: Request) => object) | undefined
  /** Checks of the adapter's own options: schemas of Valibot. */
  readonly own?: (() => Readonly<Record<string, Check<unknown>>>) | undefined
  /** Which of {@link own} a single route can set. */
  readonly ownOfRoutes?: readonly string[] | undefined
}

/** A request as plain values, for code that has read them already. */
export interface HttpRequest<Operation extends string = string, C extends Counting = Counting> {
  readonly method: string
  /** `undefined`: the request isn't metered. */
  readonly operation: Operation | undefined
  /** The subject. */
  readonly subject?: C['names']['subject'] | null | undefined
  /** The amount to charge, instead of the operation's price. */
  readonly cost?: C['cost'] | undefined
  /** The plan of the subject. */
  readonly plan?: C['names']['plan'] | undefined
  /** Numbers of the subject's own limits. */
  readonly limits?: RequestLimits<C> | null | undefined
  /** The caller's network address. */
  readonly address?: string | undefined
  /** The value of `Accept-Language`. */
  readonly languages?: string | undefined
  /** Stops waiting for the store. */
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
  limits: ({ limits }: HttpRequest): HttpRequest['limits'] => limits,
} as const
