import type { Check } from '../options/checks.ts'
import type { Cost, Counting } from '../policy/units.ts'
import type { QuotaWarningCode } from './warnings.ts'

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
}

export const PLAIN_OPTIONS = {
  subject: ({ subject }: HttpRequest): HttpRequest['subject'] => subject,
  operation: ({ operation }: HttpRequest): string | undefined => operation,
  cost: ({ cost }: HttpRequest): Cost | undefined => cost,
  plan: ({ plan }: HttpRequest): string | undefined => plan,
} as const
