import type { Decision } from '../decision/decision.ts'
import type { CommitResult } from '../engine/requests.ts'
import type { Counting, OneUnit } from '../policy/units.ts'
import { type NamedFields, namedFields, type RateLimitFields } from './headers.ts'
import type { MeteredRequest } from './metered-request.ts'
import type { RequestQuota } from './options.ts'
import type { ParsedMeterOptions } from './parse-options.ts'

/** The value of a header field that is already set, as Node and fetch return it. */
type PresentField = number | string | readonly string[] | undefined

/** The property of a request that holds its exchange. All copies of this package share the symbol. */
const EXCHANGE: unique symbol = Symbol.for('@scoregw/quota/http') as never

// A property and not a `WeakMap`, which costs more in garbage collection than a decision takes.
interface Carrier {
  [EXCHANGE]?: Exchange
}

const NONE: readonly MeteredRequest[] = []
const NOTHING: readonly never[] = []

/** All quotas of one request and its response, the newest first. Every meter of the request shares it. */
export class Exchange {
  /** Returns the exchange of a request; the first meter creates it. */
  static of(carrier: object): Exchange {
    const known = (carrier as Carrier)[EXCHANGE]
    if (known !== undefined) return known
    const made = new Exchange()
    ;(carrier as Carrier)[EXCHANGE] = made
    return made
  }

  /** Returns the exchange of a request, if the request is metered. */
  static find(carrier: object): Exchange | undefined {
    return (carrier as Carrier)[EXCHANGE]
  }

  /** The object that observes the response, for frameworks with several ways to write one. */
  watch: object | undefined
  /** The newest first. */
  #all: readonly MeteredRequest[] = NONE
  /** Those that are charged in transactions. */
  #inTransaction: readonly MeteredRequest[] = NONE
  /** The last return value of {@link withOthers}. */
  #last: RateLimitFields | undefined

  get newest(): MeteredRequest | undefined {
    return this.#all[0]
  }

  /** Whether any quota is settled at the end of the response. */
  get settlesAtEnd(): boolean {
    return this.#all.some((metered) => metered.settlesAtEnd)
  }

  /** @param isInTransaction whether it is charged in the transaction of its work */
  add(metered: MeteredRequest, isInTransaction = false): void {
    this.#all = [metered, ...this.#all]
    if (isInTransaction) this.#inTransaction = [...this.#inTransaction, metered]
  }

  /** Removes an engine's quotas of transactions that were rolled back, since the work is run again. */
  removeInTransaction(engine: object): void {
    const removed = this.#inTransaction.filter((metered) => metered.engine === engine)
    this.#all = this.#all.filter((metered) => !removed.includes(metered))
    this.#inTransaction = this.#inTransaction.filter((metered) => !removed.includes(metered))
  }

  /** Whether this engine already decided about the request. */
  isMeteredBy(engine: object): boolean {
    return this.#all.some((metered) => metered.engine === engine)
  }

  /** Whether a response head with this status has to wait for a store. */
  holdsBack(status: number, isHungUp: boolean): boolean {
    return this.#all.some((metered) => metered.holdsBack(status, isHungUp))
  }

  /** Returns the `RateLimit` fields for a head with this status; `undefined`: none. */
  fieldsFor(status: number, isHungUp: boolean): RateLimitFields | undefined {
    let fields: RateLimitFields | undefined
    for (const metered of this.#all) {
      const own = metered.fields(status, isHungUp)
      if (own !== undefined) fields = fields === undefined ? own : behind(own, fields.policy, fields.limit)
    }
    return fields
  }

  /**
   * Merges fields with those that a head already has. Fields of other libraries come first. Fields that this method
   * returned earlier are replaced.
   *
   * @param policy the current `RateLimit-Policy` of the head
   * @param limit its current `RateLimit`
   */
  withOthers(fields: RateLimitFields, policy: PresentField, limit: PresentField): RateLimitFields {
    const before = this.#last
    const all =
      policy === undefined && limit === undefined
        ? fields
        : behind(fields, others(policy, before?.policy), others(limit, before?.limit))
    this.#last = all
    return all
  }

  /** Returns the `X-RateLimit` fields for a head with this status: those of the newest quota that has any. */
  legacyFieldsFor(status: number, isHungUp: boolean): NamedFields | undefined {
    for (const metered of this.#all) {
      const fields = metered.legacyFields(status, isHungUp)
      if (fields !== undefined) return fields
    }
    return undefined
  }

  /** Returns all header fields for a head with this status. */
  headersFor(status: number, isHungUp: boolean): NamedFields {
    return { ...namedFields(this.fieldsFor(status, isHungUp)), ...this.legacyFieldsFor(status, isHungUp) }
  }

  /** Settles by the status of the head. @returns a promise to await before the head is sent; it never rejects */
  settle(status: number, isHungUp: boolean): Promise<void> | undefined {
    this.settleByStatus(status, isHungUp)
    return this.pending
  }

  /** Like {@link settle}, for callers that await {@link pending} themselves. */
  settleByStatus(status: number, isHungUp: boolean): void {
    for (const metered of this.#all) metered.settleByStatus(status, isHungUp)
  }

  /** Settles holds at the end of the response. @returns a promise to await before the last byte; it never rejects */
  end(): Promise<void> | undefined {
    for (const metered of this.#all) metered.end()
    return this.pending
  }

  /** Call when the response closes early. Holds are settled after a grace period, unless the handler settles first. */
  abort(): void {
    for (const metered of this.#all) metered.abort()
  }

  /** Settlements in flight; never rejects. */
  get pending(): Promise<void> | undefined {
    const all = this.#all.flatMap(({ pending = NOTHING }) => pending)
    return all.length < 2 ? all[0] : Promise.all(all).then(() => undefined)
  }

  /** Settles everything that is still open, because the handler failed. Never rejects. */
  async fail(): Promise<void> {
    // A failed settlement is already logged. The caller must get the handler's error.
    await Promise.allSettled(this.#all.map((metered) => metered.fail()))
  }
}

/** The items of a list field that other libraries set. */
function others(present: PresentField, ours: string | undefined): string | undefined {
  const text = present?.toString()
  return text === ours ? undefined : text
}

/** Appends fields to those of other libraries. */
function behind(fields: RateLimitFields, policy: string | undefined, limit: string | undefined): RateLimitFields {
  return {
    policy: policy === undefined ? fields.policy : `${policy}, ${fields.policy}`,
    limit: limit === undefined ? fields.limit : `${limit}, ${fields.limit}`,
  }
}

/** The options of a meter that an admitted request still needs. */
type AdmittedOptions = Pick<ParsedMeterOptions<never>, 'quota' | 'logger'>

/**
 * A request that may proceed. Call {@link headersFor} and {@link settle} before you send the head. If
 * `exchange.settlesAtEnd`, also call {@link end} before you send the last byte, or {@link abort} when the response
 * closes early.
 */
export class AdmittedRequest<C extends Counting = OneUnit> implements RequestQuota<C> {
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
