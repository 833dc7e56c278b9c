import type { Decision } from '../decision/decision.ts'
import type { CommitResult, QuotaRequest, ReserveRequest } from '../engine/requests.ts'
import type { SimpleQuota } from '../engine/simple-quota.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { refusedOptions } from '../options/options-parser.ts'
import { takesSlot } from '../policy/cells.ts'
import { operationOf } from '../policy/policy.ts'
import type { Cost, Counting, OneUnit } from '../policy/units.ts'
import type { Subject } from '../store/schema.ts'
import { queueOf } from '../waiting/waiting-queue.ts'
import { exceeded, type QuotaAnswer, unauthorized, unavailable } from './answers.ts'
import { Exchange } from './exchange.ts'
import { LimitTexts } from './headers.ts'
import { ipSubject } from './ip-subject.ts'
import { type HeldTokens, MeteredRequest } from './metered-request.ts'
import type { NodeRequest } from './node/response-gate.ts'
import {
  type HttpAdapter,
  type HttpMeterOptions,
  type HttpRequest,
  type MaybeAsync,
  PLAIN,
  PLAIN_OPTIONS,
  type RequestQuota,
  type UnitsOfHandlers,
} from './options.ts'
import { type ParsedMeterOptions, parseOptions } from './parse-options.ts'
import { type Locale, preferredLocale } from './texts.ts'
import { Warnings } from './warnings.ts'

/** The request is not metered. */
export interface PassedRequest {
  readonly kind: 'pass'
}

/** The options of a meter that an admitted request still needs. */
export type AdmittedOptions = Pick<ParsedMeterOptions<never>, 'quota' | 'logger'>

/**
 * A request that may proceed. Call {@link headersFor} and {@link settle} before you send the head. If
 * `exchange.settlesAtEnd`, also call {@link end} before you send the last byte, or {@link abort} when the response
 * closes early.
 */
export class AdmittedRequest<C extends Counting = UnitsOfHandlers> implements RequestQuota<C> {
  readonly kind = 'metered'
  /** The quota to hand to the handler. */
  readonly quota: MeteredRequest<C>
  /** All quotas of this request. */
  readonly exchange: Exchange
  /** The options of the meter that admitted the request. */
  readonly options: AdmittedOptions

  constructor(quota: MeteredRequest<C>, exchange: Exchange, options: AdmittedOptions) {
    this.quota = quota
    this.exchange = exchange
    this.options = options
  }

  get decision(): Decision<C> {
    return this.quota.decision
  }

  get charged(): C['amount'] {
    return this.quota.charged
  }

  /** Returns the header fields of a response with this status. */
  headersFor(status: number): Readonly<Record<string, string>> {
    return this.exchange.headersFor(status, false)
  }

  /**
   * Settles by the response's status: below 400 the charge stays. Resolves when you may send the head. Never rejects.
   */
  async settle(status: number): Promise<void> {
    await this.exchange.settle(status, false)
  }

  /** Settles holds at the end of the response. Resolves when you may send the last byte. Never rejects. */
  async end(): Promise<void> {
    await this.exchange.end()
  }

  /** Call when the response closes early. Holds are settled after a grace period, unless the handler settles first. */
  abort(): void {
    this.exchange.abort()
  }

  commit(actual?: C['cost']): Promise<CommitResult<C>> {
    return this.quota.commit(actual)
  }

  cancel(): Promise<void> {
    return this.quota.cancel()
  }

  add(cost: C['cost']): Promise<Decision<C>> {
    return this.quota.add(cost)
  }

  extend(ttlMs?: number): Promise<number> {
    return this.quota.extend(ttlMs)
  }
}

/** The outcome of a request: not metered, answered with an error, or metered. */
export type Admission = PassedRequest | QuotaAnswer | AdmittedRequest

const PASS: PassedRequest = { kind: 'pass' }

/** The return value of the option `subject`. */
type Given = Subject | null | undefined

/** A decision of the engine, and the tokens it holds. */
interface Taken {
  readonly decision: Decision
  readonly held: HeldTokens | undefined
}

/** The calls of an engine with synchronous stores. */
interface SyncCalls {
  consumeSync(request: QuotaRequest): Decision
  reserveSync(request: ReserveRequest): { readonly decision?: Decision | undefined }
}

const ROUTE_OPTIONS = [
  'subject',
  'cost',
  'settle',
  'isFailure',
  'ttlMs',
  'abortGraceMs',
  'abortedAs',
  'plan',
  'skip',
  'anonymous',
  'maxWaitMs',
]

/** Error codes that become a 503. All other errors are thrown to the application. */
const UNAVAILABLE: readonly string[] = ['quota_unavailable', 'too_many_holds']

/** Meters HTTP requests with one set of options. */
export class HttpMeter<Request> {
  readonly options: ParsedMeterOptions<Request>
  readonly warnings: Warnings
  readonly #given: HttpMeterOptions<Request>
  readonly #adapter: HttpAdapter<Request>
  readonly #ownLayers: readonly string[]
  readonly #texts = new LimitTexts()
  /** Present if the engine's stores are synchronous. */
  readonly #now: SyncCalls | undefined

  constructor(given: HttpMeterOptions<Request>, adapter: HttpAdapter<Request>, warnings?: Warnings) {
    const options = withOnlyOperation(parseOptions<Request>(given, adapter))
    this.options = options
    this.#given = given
    this.#adapter = adapter
    this.warnings = warnings ?? new Warnings(options.logger, options.validate)
    this.#ownLayers = options.quota.policy.layers.filter(({ shared }) => !shared).map(({ name }) => name)
    if (options.maxWaitMs !== undefined) queueOf(options.quota)
    this.#now = options.quota.sync ? (options.quota as unknown as SyncCalls) : undefined
  }

  /**
   * Returns the meter of one route, whose requests all have this operation.
   *
   * @param overrides options of this route
   * @throws {QuotaError} `unknown_operation`; `invalid_options` naming every fault
   */
  operation(name: string, overrides: object = {}): HttpMeter<Request> {
    operationOf(this.options.quota.policy, name)
    const allowed = [...ROUTE_OPTIONS, ...(this.#adapter.ownOfRoutes ?? [])]
    const unknown = Object.keys(overrides).filter((key) => !allowed.includes(key))
    if (unknown.length > 0) {
      const message = `not an option of a route; those are ${allowed.join(', ')}`
      throw refusedOptions(
        this.#adapter.name,
        unknown.map((path) => ({ path, message })),
      )
    }
    const meter = new HttpMeter({ ...this.#given, ...overrides, operation: () => name }, this.#adapter, this.warnings)
    const { settle, quota } = meter.options
    if ((settle === 'charge-first' || settle === 'failures') && takesSlot(quota.policy, name)) {
      const message = `"${name}" needs a slot, and '${settle}' never frees it; use 'outcome' or 'end'`
      throw refusedOptions(this.#adapter.name, [{ path: 'settle', message }])
    }
    return meter
  }

  /**
   * Admits or refuses a request. Returns a promise only if the store or an option's function is asynchronous.
   *
   * @throws {QuotaError} `unknown_operation`, `invalid_cost`, `invalid_subject`, and errors of the options' functions
   */
  admit(request: Request): Admission | Promise<Admission> {
    // Browsers send CORS preflights by themselves.
    if (this.#adapter.method(request) === 'OPTIONS') return PASS
    const skipped = this.options.skip?.(request)
    if (isPromiseLike(skipped)) return this.#admitLater(request, skipped)
    return skipped ? PASS : this.#identify(request)
  }

  async #admitLater(request: Request, skipped: PromiseLike<boolean>): Promise<Admission> {
    return (await skipped) ? PASS : this.#identify(request)
  }

  #identify(request: Request): Admission | Promise<Admission> {
    const operation = this.#operationOf(request)
    if (operation === undefined || this.#isMetered(request)) return PASS
    const given = this.options.subject?.(request)
    if (isPromiseLike(given)) return this.#identifyLater(request, operation, given)
    return this.#withSubject(request, operation, given)
  }

  async #identifyLater(request: Request, operation: string, given: PromiseLike<Given>): Promise<Admission> {
    return this.#withSubject(request, operation, await given)
  }

  #withSubject(request: Request, operation: string, given: Given): Admission | Promise<Admission> {
    const subject = given ?? this.#anonymous(request)
    if (subject === undefined) {
      return this.options.anonymous === 'skip' ? PASS : unauthorized(this.#locale(request), this.options)
    }
    if (typeof subject !== 'string' && typeof subject !== 'object') {
      const message = `subject() returned a ${typeof subject} for "${operation}"; return a string, for example String(user.id)`
      this.warnings.warnOnce('subject_not_text', message)
    }
    return this.#price(request, operation, subject)
  }

  #price(request: Request, operation: string, subject: Subject): Admission | Promise<Admission> {
    const { cost: price, plan: named } = this.options
    const cost = typeof price === 'function' ? price(request) : price
    const plan = typeof named === 'function' ? named(request) : named
    if (isPromiseLike(cost)) return this.#priceLater(request, { subject, operation, plan }, cost)
    return this.#take(request, { subject, operation, cost, plan })
  }

  async #priceLater(
    request: Request,
    quotaRequest: QuotaRequest,
    cost: PromiseLike<Cost | undefined>,
  ): Promise<Admission> {
    return this.#take(request, { ...quotaRequest, cost: await cost })
  }

  #take(request: Request, quotaRequest: QuotaRequest): Admission | Promise<Admission> {
    if (this.options.maxWaitMs !== undefined) return this.#takeWaiting(request, quotaRequest)
    return this.#now === undefined
      ? this.#takeLater(request, quotaRequest)
      : this.#takeNow(this.#now, request, quotaRequest)
  }

  #takeNow(engine: SyncCalls, request: Request, quotaRequest: QuotaRequest): Admission {
    let taken: Taken
    try {
      taken =
        this.options.settle === 'charge-first'
          ? uncancellable(engine.consumeSync(quotaRequest))
          : takenOf(engine.reserveSync(this.#held(quotaRequest)))
    } catch (error) {
      return this.#failed(request, error)
    }
    return this.#admitted(request, taken)
  }

  async #takeLater(request: Request, quotaRequest: QuotaRequest): Promise<Admission> {
    const { quota, settle } = this.options
    const signal = this.#adapter.signal?.(request)
    const given = signal === undefined ? quotaRequest : { signal, ...quotaRequest }
    let taken: Taken
    try {
      taken =
        settle === 'charge-first'
          ? uncancellable(await quota.consume(given))
          : takenOf(await quota.reserve(this.#held(given)))
    } catch (error) {
      return this.#failed(request, error)
    }
    return this.#admitted(request, taken)
  }

  /** Waits in the engine's queue, until the client disconnects. */
  async #takeWaiting(request: Request, of: QuotaRequest): Promise<Admission> {
    const { quota, settle, maxWaitMs } = this.options
    const gone = new AbortController()
    const stop = whenGone(this.#adapter.connection?.(request), () => gone.abort())
    try {
      const waits = { ...this.#held(of), maxWaitMs, signal: gone.signal }
      const reservation = await queueOf(quota).reserve(waits)
      const { decision } = reservation
      if (decision === undefined) throw new QuotaError('quota_unavailable', 'too many requests are already waiting')
      return this.#admitted(request, settle === 'charge-first' ? uncancellable(decision) : takenOf(reservation))
    } catch (error) {
      const isGone = gone.signal.aborted && error === gone.signal.reason
      const known = isGone ? new QuotaError('quota_unavailable', 'the client disconnected while it waited') : error
      return this.#failed(request, known)
    } finally {
      stop()
    }
  }

  /** Makes a request that settles late a hold, if the store supports holds. */
  #held(quotaRequest: QuotaRequest): ReserveRequest {
    const { settle, quota, ttlMs = settle === 'end' ? quota.holdTtlMs : undefined } = this.options
    return ttlMs === undefined ? quotaRequest : { ttlMs, ...quotaRequest }
  }

  #admitted(request: Request, { decision, held }: Taken): Admission {
    const { options } = this
    const quota = new MeteredRequest(options, decision, held, this.#texts)
    const exchange = Exchange.of(this.#carrier(request))
    exchange.add(quota)
    if (decision.allowed) return new AdmittedRequest(quota, exchange, options)
    return exceeded(quota, decision, this.#locale(request), options)
  }

  #failed(request: Request, error: unknown): QuotaAnswer {
    if (!(error instanceof QuotaError) || !UNAVAILABLE.includes(error.code)) throw error
    return unavailable(error, this.#locale(request), this.options)
  }

  #operationOf(request: Request): string | undefined {
    const { operation } = this.options
    if (operation !== undefined) return operation(request)
    const message = 'missing; without operation(request), mount .operation(name) on each route'
    throw refusedOptions(this.#adapter.name, [{ path: 'operation', message }])
  }

  /** Whether this engine already decided about the request. An engine decides once per request. */
  #isMetered(request: Request): boolean {
    if (Exchange.find(this.#carrier(request))?.isMeteredBy(this.options.quota) !== true) return false
    const message = `a ${this.#adapter.method(request)} request passes two meters of this engine; only the first one charges it`
    this.warnings.warnOnce('mounted_twice', message)
    return true
  }

  #carrier(request: Request): object {
    return this.#adapter.carrier === undefined ? (request as object) : this.#adapter.carrier(request)
  }

  /** The subject of an anonymous request, if it is metered by its address. */
  #anonymous(request: Request): Subject | undefined {
    const { anonymous, address, ipv6Subnet } = this.options
    if (anonymous !== 'ip') return undefined
    const fault = address === undefined ? this.#adapter.proxyFault?.(request) : undefined
    if (fault !== undefined) this.warnings.warnOnce(fault.code, fault.message)
    const subject = ipSubject((address ?? this.#adapter.address)?.(request), ipv6Subnet)
    if (subject === undefined || this.#ownLayers.length === 1) return subject
    return Object.fromEntries(this.#ownLayers.map((layer) => [layer, subject]))
  }

  #locale(request: Request): Locale {
    const { locale } = this.options
    if (locale === undefined) return preferredLocale(this.#adapter.languages(request))
    return typeof locale === 'function' ? locale(request) : locale
  }
}

/** Calls `listener` once when the connection ends, unless the returned function is called first. */
function whenGone(connection: AbortSignal | NodeRequest | undefined, listener: () => void): () => void {
  if (connection instanceof AbortSignal) {
    if (connection.aborted) listener()
    connection.addEventListener('abort', listener)
    return () => connection.removeEventListener('abort', listener)
  }
  // In HTTP/2, many requests share a socket, and each has its own stream.
  const closing = connection?.stream ?? connection?.socket
  closing?.once('close', listener)
  return () => void closing?.off('close', listener)
}

/** Options of a meter for plain values. */
export type PlainMeterOptions<Operation extends string = string, C extends Counting = OneUnit> = Omit<
  HttpMeterOptions<HttpRequest<Operation, C>, Operation, C>,
  'subject' | 'operation' | 'cost' | 'plan'
>

/**
 * Makes a meter for HTTP requests: of a framework whose requests an adapter reads, or of plain values.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const meter = httpMeter({ quota })
 * const admission = await meter.admit({ method: 'POST', operation: 'write', subject: 'u42' })
 */
export function httpMeter<Operation extends string, C extends Counting = OneUnit>(
  options: PlainMeterOptions<Operation, C>,
): HttpMeter<HttpRequest<Operation, C>>
export function httpMeter<Request, Operation extends string, C extends Counting = OneUnit>(
  options: HttpMeterOptions<Request, Operation, C>,
  adapter: HttpAdapter<Request>,
): HttpMeter<Request>
export function httpMeter(options: object, adapter?: HttpAdapter<never>): HttpMeter<never> {
  if (adapter !== undefined) return new HttpMeter(options as HttpMeterOptions<never>, adapter)
  const given = { ...options, ...PLAIN_OPTIONS } as unknown as HttpMeterOptions<HttpRequest>
  return new HttpMeter(given, PLAIN) as unknown as HttpMeter<never>
}

/** Uses the single operation of an engine made by simpleQuota(). */
function withOnlyOperation<Request>(options: ParsedMeterOptions<Request>): ParsedMeterOptions<Request> {
  const { operation } = options.quota as Partial<SimpleQuota>
  if (options.operation !== undefined || operation === undefined) return options
  return { ...options, operation: () => operation }
}

function takenOf(reservation: { readonly decision?: Decision | undefined }): Taken {
  // Only a reservation with an id can lack a decision.
  const decision = reservation.decision as Decision
  return { decision, held: decision.allowed ? (reservation as unknown as HeldTokens) : undefined }
}

function uncancellable(decision: Decision): Taken {
  return { decision, held: undefined }
}

function isPromiseLike<T>(value: MaybeAsync<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
