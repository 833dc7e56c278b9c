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

/** What happens to a request without a subject: 401, not metered, or metered by its network address. */
export type AnonymousMode = 'reject' | 'skip' | 'ip'

/** Options of one route; `Request` is the framework's type of a request. */
export interface RouteOptions<Request, C extends Counting = Counting> {
  /**
   * The subject: a string; with several layers that are not shared an object with a key for each. `undefined`, `null`: see
   * {@link anonymous}.
   * Never take it from data that a client may choose freely. Required, unless `anonymous` is `'ip'`.
   * @default every request is anonymous
   */
  readonly subject?: ((request: Request) => MaybeAsync<C['names']['subject'] | null | undefined>) | undefined
  /**
   * Tokens instead of the operation's price, a whole number, 0 or more; where the policy has several units, amounts by
   * unit. A function may look at the (parsed) body and answer `undefined` for the price.
   * @default the operation's price
   */
  readonly cost?: C['cost'] | ((request: Request) => MaybeAsync<C['cost'] | undefined>) | undefined
  /** @default 'outcome' */
  readonly settle?: SettleMode | undefined
  /**
   * Which status of a response is a failure, for `settle: 'failures'`. A handler that redirects in both cases calls
   * `commit()` for a failure and `cancel()` for a success.
   * @default 400 and above
   */
  readonly isFailure?: ((status: number) => boolean) | undefined
  /**
   * How long a hold lasts once it is no longer kept alive, in milliseconds: for how long a process that died keeps tokens
   * and slots. Of `settle: 'end'`, and of operations that need a slot.
   * @default the engine's `holdTtlMs`
   */
  readonly ttlMs?: number | undefined
  /**
   * How long a hold of `settle: 'end'` stays open when its response closes early and it is not settled, in
   * milliseconds, and at most its life: the handler may still commit the actual cost until then, or cancel.
   * @default 5_000
   */
  readonly abortGraceMs?: number | undefined
  /**
   * What such a hold is settled as when that time is over: charged in full, or given back.
   * @default 'commit'
   */
  readonly abortedAs?: 'commit' | 'cancel' | undefined
  /**
   * The plan of the subject, for example from the claims of a token; `undefined`: none. One in the subject's stored settings
   * comes first.
   */
  readonly plan?: C['names']['plan'] | ((request: Request) => C['names']['plan'] | undefined) | undefined
  /**
   * `true`: this request is not metered.
   * @default none is skipped
   */
  readonly skip?: ((request: Request) => MaybeAsync<boolean>) | undefined
  /** @default 'reject' */
  readonly anonymous?: AnonymousMode | undefined
  /**
   * How long a request waits for its limits before it's refused, in milliseconds, 0 to 86_400_000. It waits in the engine's
   * queue, see `@scoregw/quota/waiting`, and leaves it when its client disconnects.
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
   * The operation a request is charged as; `undefined`: it is not metered. Needed to serve a whole app.
   * @default the one operation of an engine that simpleQuota() made
   */
  readonly operation?: ((request: Request) => NoInfer<Operation> | undefined) | undefined
  /**
   * The network address of a caller, for `anonymous: 'ip'`; one that the caller cannot choose.
   * @default the framework's address; required with `anonymous: 'ip'` where the framework has none that can be trusted
   */
  readonly address?: ((request: Request) => string | undefined) | undefined
  /**
   * Leading bits of an IPv6 address that are one caller, 1 to 128.
   * @default 56
   */
  readonly ipv6Subnet?: number | undefined
  /**
   * `RateLimit` and `RateLimit-Policy` of that draft on every response of a metered request. Both names stand for the same
   * syntax.
   * @default false
   */
  readonly standardHeaders?: StandardHeaders | false | undefined
  /**
   * Which limits those fields name: the one that lets the fewest more requests of this cost through (of a refusal, the one
   * that binds), or each.
   * @default 'one'
   */
  readonly fields?: FieldsOption | undefined
  /**
   * The older fields on every response of a metered request: `X-RateLimit-Limit`, `X-RateLimit-Remaining` and
   * `X-RateLimit-Reset`, in whole seconds since the epoch. They name the limit that `fields: 'one'` names. A response that
   * has such fields already keeps them.
   * @default false
   */
  readonly legacyHeaders?: boolean | undefined
  /**
   * Which misconfigurations are detected and logged, each once: all, none, or all but those that are
   * `false`.
   * @default true
   */
  readonly validate?: ValidateOption | undefined
  /**
   * Receives misconfigurations, and errors of tokens that could not be given back; `false` silences it.
   * @default the console
   */
  readonly logger?: QuotaLogger | false | undefined
  /**
   * Language of answers.
   * @default by `Accept-Language`, English when it names neither language
   */
  readonly locale?: Locale | ((request: Request) => Locale) | undefined
  /**
   * Makes the body of a 429.
   * @default the policy's `answers`, else `neutralAnswers()`
   */
  readonly answers?: QuotaAnswers | undefined
  /** Texts of the application's own, by locale. */
  readonly messages?: MessageTexts | undefined
  /**
   * `true`: answers are sent as problem details (RFC 9457), `application/problem+json`.
   * @default false
   */
  readonly problemDetails?: boolean | undefined
  /**
   * The challenge of a 401, its field `WWW-Authenticate`.
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

/** {@link HandlerUnits} as types use them; tokens while they are undeclared. */
export type UnitsOfHandlers = HandlerUnits extends { readonly units: infer Unit extends string }
  ? UnitsOf<Unit>
  : OneUnit

/** Costs that a handler may settle: by any unit while they are undeclared. They are checked when they are charged. */
export type CostOfHandlers<C extends Counting> = HandlerUnits extends { readonly units: string }
  ? C['cost']
  : C extends UnitsOfHandlers
    ? Cost
    : C['cost']

/** The quota of one request, as its handler sees it. */
export interface RequestQuota<C extends Counting = UnitsOfHandlers, Given extends Cost = CostOfHandlers<C>> {
  /** What was decided before the handler. */
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
  /** The tokens go back: the work was not done, or nothing failed. Settles once; errors as of {@link commit}. */
  cancel(): Promise<void>
  /**
   * With `settle: 'end'`: more is charged, in every window or in none.
   *
   * @returns the decision; where it refuses, the request keeps its earlier charge
   * @throws {QuotaError} `hold_required`, `invalid_cost`, `reservation_expired`
   */
  add(cost: Given): Promise<Decision<C>>
  /**
   * With `settle: 'end'`: the hold ends so many milliseconds from now, if that is later. It is kept alive by itself while
   * the response is in flight.
   *
   * @param ttlMs default: as it was reserved for
   * @returns when it ends then, epoch milliseconds by the store's clock
   * @throws {QuotaError} `hold_required`, `invalid_ttl`, `reservation_expired`
   */
  extend(ttlMs?: number): Promise<number>
}

/** How an adapter reads the requests of its framework. */
export interface HttpAdapter<Request> {
  /** How it is named in texts for programmers, for example `quotaMiddleware()`. */
  readonly name: string
  /** The request's method, in capitals. */
  method(request: Request): string
  /** The field `Accept-Language`. */
  languages(request: Request): string | undefined
  /**
   * The caller's network address, one that the caller cannot choose. Left out where the framework has none:
   * `anonymous: 'ip'` then demands the option `address`.
   */
  readonly address?: ((request: Request) => string | undefined) | undefined
  /** Aborts when the caller has gone; a store behind a network then gives up. */
  readonly signal?: ((request: Request) => AbortSignal | undefined) | undefined
  /** Ends with the connection of the caller: a signal, or Node's message. Requests that wait leave the queue then. */
  readonly connection?: ((request: Request) => AbortSignal | NodeRequest | undefined) | undefined
  /** Says how the framework's idea of addresses is misconfigured, before an address is used. */
  readonly proxyFault?: ((request: Request) => ProxyFault | undefined) | undefined
  /**
   * What carries the quotas of a request: an object that all of the request's meters see.
   * @default the request
   */
  readonly carrier?: ((request: Request) => object) | undefined
  /** Checks of options beside those of every adapter, made with `@scoregw/quota/options` when options come. */
  readonly own?: (() => Readonly<Record<string, Check<unknown>>>) | undefined
  /** Which of {@link own} a single route may set. */
  readonly ownOfRoutes?: readonly string[] | undefined
}

/** How addresses are misconfigured. */
export interface ProxyFault {
  readonly code: QuotaWarningCode
  readonly message: string
}

/** A request as plain values, for those who have read them already. */
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
