import type { Decision } from '../decision/decision.ts'
import type { QuotaRequest, ReserveRequest } from '../engine/requests.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { shown } from '../errors/shown.ts'
import { refusedOptions } from '../options/options-parser.ts'
import { isPromiseLike, notPromise } from '../options/promise.ts'
import { takesSlot } from '../policy/cells.ts'
import { operationOf } from '../policy/policy.ts'
import type { Subject } from '../store/subjects.ts'
import { queueOf } from '../waiting/waiting-queue.ts'
import { exceeded, type QuotaAnswer, unauthorized, unavailable } from './answers.ts'
import { AdmittedRequest, Exchange } from './exchange.ts'
import { LimitTexts } from './headers.ts'
import { checkInTransaction, takenInTransaction } from './in-transaction.ts'
import { anyAddress, ipSubject } from './ip-subject.ts'
import { MeteredRequest, type Taken, takenOf, uncancellable } from './metered-request.ts'
import { type PendingResponse, whenEnded, whenGone } from './node/response-gate.ts'
import type { HttpAdapter, HttpMeterOptions, MaybeAsync } from './options.ts'
import { type ParsedMeterOptions, parseOptions, routeOptions } from './parse-options.ts'
import { LOCALES, type Locale, preferredLocale } from './texts.ts'
import { Warnings } from './warnings.ts'

/** The request is not metered. */
export interface PassedRequest {
  readonly kind: 'pass'
}

/**
 * The response ended before the decision: a time-out answered the request, or its caller left the queue. Nothing is
 * charged. Don't call the handler, and send nothing.
 */
export interface GoneRequest {
  readonly kind: 'gone'
}

/** The outcome of a request: not metered, answered with an error, metered, or nobody waits for it. */
export type Admission = PassedRequest | QuotaAnswer | AdmittedRequest | GoneRequest

const PASS: PassedRequest = { kind: 'pass' }
const GONE: GoneRequest = { kind: 'gone' }

/** The return value of the option `subject`. */
type Given = Subject | null | undefined

/** A request before its operation is known. */
interface Asked<Request> {
  readonly request: Request
  readonly response: PendingResponse | undefined
  /** The transaction that is charged, if any. */
  readonly transaction?: { readonly is: unknown } | undefined
}

/** A request before its decision. */
interface Undecided<Request> extends Asked<Request> {
  readonly operation: string
}

/** The calls of an engine with synchronous stores. */
interface SyncCalls {
  consumeSync(request: QuotaRequest): Decision
  reserveSync(request: ReserveRequest): { readonly decision?: Decision | undefined }
}

/** A text that may contain an IPv6 address. */
const HAS_GROUPS = /:[^:]*:/

/** Whether a request has no subject: text from callers may be empty, and so may all keys. */
function isBlank(subject: Given): subject is null | undefined | '' {
  if (typeof subject === 'string') return subject.trim() === ''
  if (typeof subject !== 'object' || subject === null) return subject === undefined || subject === null
  const keys: readonly unknown[] = Object.values(subject)
  return keys.length > 0 && keys.every((key) => key === null || (typeof key === 'string' && key.trim() === ''))
}

/** What a request says about its price and its limits. */
type Terms = Pick<QuotaRequest, 'cost' | 'plan'> & { readonly limits: QuotaRequest['limits'] | null }

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
    const allowed = [...routeOptions(), ...(this.#adapter.ownOfRoutes ?? [])]
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
   * Returns the meter of one route, whose requests are charged in the transaction of their work, by
   * {@link admitInTransaction}.
   *
   * @param overrides options of this route, except those that settle
   * @throws {QuotaError} as {@link operation}; `store_unsupported` if the store has no transactions
   */
  inTransaction(name: string, overrides: object = {}): HttpMeter<Request> {
    checkInTransaction(this.#adapter.name, this.options.quota, overrides)
    const unsettled = { settle: 'outcome', maxWaitMs: undefined, ttlMs: undefined, isFailure: undefined }
    return this.operation(name, { ...overrides, ...unsettled })
  }

  /**
   * Admits or refuses a request. Returns a promise only if the store or an option's function is asynchronous.
   *
   * @param response the response to the request. If it ends before the decision, the request leaves the queue, and
   * tokens that were charged for it are refunded
   * @throws {QuotaError} `unknown_operation`, `invalid_cost`, `invalid_subject`, and errors of the options' functions
   */
  admit(request: Request, response?: PendingResponse): Admission | Promise<Admission> {
    // Browsers send CORS preflights by themselves.
    if (this.#adapter.method(request) === 'OPTIONS') return PASS
    if (response?.writableEnded === true) return GONE
    const wasBegun = response?.headersSent === true
    const admission = this.#admit({ request, response })
    if (response === undefined || !isPromiseLike(admission)) return admission
    return this.#unlessEnded(admission, () => response.writableEnded || (response.headersSent && !wasBegun))
  }

  /**
   * Decides about a request in the transaction of its work: the charge is kept if the transaction commits. Replaces the
   * decision of an earlier call, whose transaction was rolled back.
   *
   * @throws {QuotaError} as {@link admit}; `invalid_options` if the value isn't a transaction
   */
  async admitInTransaction(request: Request, transaction: unknown): Promise<Admission> {
    if (this.#adapter.method(request) === 'OPTIONS') return PASS
    Exchange.find(this.#carrier(request))?.removeInTransaction(this.options.quota)
    return this.#admit({ request, response: undefined, transaction: { is: transaction } })
  }

  async #unlessEnded(deciding: Promise<Admission>, hasEnded: () => boolean): Promise<Admission> {
    const admission = await deciding
    if (!hasEnded()) return admission
    // A failed refund is logged.
    if (admission.kind === 'metered') await admission.quota.cancel().catch(() => undefined)
    return GONE
  }

  #admit(asked: Asked<Request>): Admission | Promise<Admission> {
    const skipped = this.options.skip?.(asked.request)
    return isPromiseLike(skipped) ? this.#admitLater(asked, skipped) : this.#identify(asked, skipped)
  }

  async #admitLater(asked: Asked<Request>, skipped: PromiseLike<boolean>): Promise<Admission> {
    return this.#identify(asked, await skipped)
  }

  #identify(asked: Asked<Request>, isSkipped: boolean | undefined): Admission | Promise<Admission> {
    if (isSkipped) return PASS
    const operation = this.#operationOf(asked.request)
    return isPromiseLike(operation) ? this.#begunLater(asked, operation) : this.#begin(asked, operation)
  }

  async #begunLater(asked: Asked<Request>, operation: PromiseLike<string | undefined>): Promise<Admission> {
    return this.#begin(asked, await operation)
  }

  #begin(asked: Asked<Request>, operation: string | undefined): Admission | Promise<Admission> {
    const { request, response, transaction } = asked
    if (operation === undefined || this.#isMetered(request)) return PASS
    const given = this.options.subject?.(request)
    const of = { request, response, transaction, operation }
    return isPromiseLike(given) ? this.#identifyLater(of, given) : this.#withSubject(of, given)
  }

  async #identifyLater(of: Undecided<Request>, given: PromiseLike<Given>): Promise<Admission> {
    return this.#withSubject(of, await given)
  }

  #withSubject(of: Undecided<Request>, given: Given): Admission | Promise<Admission> {
    const { request, operation } = of
    const subject = isBlank(given) ? this.#anonymous(request) : given
    if (isBlank(subject)) {
      return this.options.anonymous === 'skip' ? PASS : unauthorized(this.#locale(request), this.options)
    }
    if (typeof subject !== 'string' && typeof subject !== 'object') {
      const message = `subject() returned a ${typeof subject} for "${operation}"; return a string, for example String(user.id)`
      this.warnings.warnOnce('subject_not_text', message)
    }
    this.#checkAddress(request, subject)
    const { cost: price, plan: named, limits: numbers } = this.options
    const cost = typeof price === 'function' ? price(request) : price
    const plan = typeof named === 'function' ? named(request) : named
    const limits = typeof numbers === 'function' ? numbers(request) : numbers
    if (isPromiseLike(cost) || isPromiseLike(plan) || isPromiseLike(limits)) {
      return this.#takeWhenKnown(of, subject, cost, plan, limits)
    }
    return this.#take(of, { subject, operation, cost, plan, limits: limits ?? undefined })
  }

  /** Warns of a subject with the request's own IPv6 address: its caller has 2^64 others. */
  #checkAddress(request: Request, subject: Subject): void {
    if (typeof subject !== 'string' || !HAS_GROUPS.test(subject) || !this.warnings.isOpen('raw_ipv6_subject')) return
    const address = this.#adapter.address?.(request)
    if (address === undefined || !HAS_GROUPS.test(address) || !subject.includes(address)) return
    if (typeof anyAddress(address) !== 'object') return
    const message = `the subject has a whole IPv6 address, and its caller has many of them; use ipSubject(), or anonymous: 'ip'`
    this.warnings.warnOnce('raw_ipv6_subject', message)
  }

  async #takeWhenKnown(
    of: Undecided<Request>,
    subject: Subject,
    ...known: readonly [MaybeAsync<Terms['cost']>, MaybeAsync<Terms['plan']>, MaybeAsync<Terms['limits']>]
  ): Promise<Admission> {
    // Together, so that none rejects unhandled while another is awaited.
    const [cost, plan, limits] = await Promise.all(known)
    return this.#take(of, { subject, operation: of.operation, cost, plan, limits: limits ?? undefined })
  }

  #take(of: Undecided<Request>, quotaRequest: QuotaRequest): Admission | Promise<Admission> {
    const { request, response, transaction } = of
    const { quota, settle, maxWaitMs } = this.options
    if (response?.writableEnded === true) return GONE
    if (transaction !== undefined)
      return this.#admitTaken(request, takenInTransaction(quota, transaction.is, quotaRequest), true)
    if (maxWaitMs !== undefined) return this.#takeWaiting(of, quotaRequest)
    if (this.#now === undefined) return this.#admitTaken(request, this.#takeLater(request, quotaRequest))
    let taken: Taken
    try {
      taken =
        settle === 'charge-first'
          ? uncancellable(this.#now.consumeSync(quotaRequest))
          : takenOf(this.#now.reserveSync(this.#held(quotaRequest)))
    } catch (error) {
      return this.#failed(request, error)
    }
    return this.#admitted(request, taken)
  }

  async #takeLater(request: Request, quotaRequest: QuotaRequest): Promise<Taken> {
    const { quota, settle } = this.options
    const signal = this.#adapter.signal?.(request)
    const given = signal === undefined ? quotaRequest : { signal, ...quotaRequest }
    return settle === 'charge-first'
      ? uncancellable(await quota.consume(given))
      : takenOf(await quota.reserve(this.#held(given)))
  }

  async #admitTaken(request: Request, taking: Promise<Taken>, isInTransaction = false): Promise<Admission> {
    let taken: Taken
    try {
      taken = await taking
    } catch (error) {
      return this.#failed(request, error)
    }
    return this.#admitted(request, taken, isInTransaction)
  }

  /** Waits in the engine's queue, until the client disconnects or something else has answered the request. */
  async #takeWaiting({ request, response }: Undecided<Request>, of: QuotaRequest): Promise<Admission> {
    const { quota, settle, maxWaitMs } = this.options
    const gone = new AbortController()
    const leave = (): void => gone.abort()
    const stops = [whenGone(this.#adapter.connection?.(request), leave), whenEnded(response, leave)]
    try {
      const waits = { ...this.#held(of), maxWaitMs, signal: gone.signal }
      const reservation = await queueOf(quota).reserve(waits)
      const { decision } = reservation
      if (decision === undefined) throw new QuotaError('quota_unavailable', 'too many requests are already waiting')
      if (settle !== 'charge-first') return this.#admitted(request, takenOf(reservation))
      if (reservation.status === 'reserved') await reservation.commit()
      return this.#admitted(request, uncancellable(decision))
    } catch (error) {
      if (gone.signal.aborted && error === gone.signal.reason) return GONE
      return this.#failed(request, error)
    } finally {
      for (const stop of stops) stop()
    }
  }

  /** Makes a request that settles late a hold, if the store supports holds. */
  #held(quotaRequest: QuotaRequest): ReserveRequest {
    const { settle, quota, ttlMs = settle === 'end' ? quota.holdTtlMs : undefined } = this.options
    return ttlMs === undefined ? quotaRequest : { ttlMs, ...quotaRequest }
  }

  #admitted(request: Request, { decision, held }: Taken, isInTransaction = false): Admission {
    const { options } = this
    const quota = new MeteredRequest(options, decision, held, this.#texts)
    const exchange = Exchange.of(this.#carrier(request))
    exchange.add(quota, isInTransaction)
    if (decision.allowed) return new AdmittedRequest(quota, exchange, options)
    return exceeded(quota, decision, this.#locale(request), options)
  }

  #failed(request: Request, error: unknown): QuotaAnswer {
    if (!(error instanceof QuotaError) || !UNAVAILABLE.includes(error.code)) throw error
    return unavailable(error, this.#locale(request), this.options)
  }

  #operationOf(request: Request): MaybeAsync<string | undefined> {
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
    const given = notPromise((address ?? this.#adapter.address)?.(request), 'address(request): expected a text')
    const subject = ipSubject(given, ipv6Subnet)
    if (subject === undefined) {
      const message = `a request has the address ${shown(given)}, which can't be read, so it is anonymous; set address(request)`
      this.warnings.warnOnce('unreadable_address', message)
    }
    if (subject === undefined || this.#ownLayers.length === 1) return subject
    return Object.fromEntries(this.#ownLayers.map((layer) => [layer, subject]))
  }

  #locale(request: Request): Locale {
    const { locale } = this.options
    if (locale === undefined) return preferredLocale(this.#adapter.languages(request))
    const given = typeof locale === 'function' ? locale(request) : locale
    return notPromise(given, `locale(request): expected ${LOCALES.join(' or ')}`)
  }
}

/** Uses the operation of a policy that has only one. */
function withOnlyOperation<Request>(options: ParsedMeterOptions<Request>): ParsedMeterOptions<Request> {
  const [operation, ...others] = Object.keys(options.quota.policy.operations)
  if (options.operation !== undefined || operation === undefined || others.length > 0) return options
  return { ...options, operation: () => operation }
}
