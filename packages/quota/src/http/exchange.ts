import { type NamedFields, namedFields, type RateLimitFields } from './headers.ts'
import type { MeteredRequest } from './metered-request.ts'

/** What a head has of a field. */
type PresentField = number | string | readonly string[] | undefined

/** Where a request keeps its quotas. Shared by all copies of this package. */
const EXCHANGE: unique symbol = Symbol.for('@scoregw/quota/http') as never

// A property, and no map beside the requests: weak maps cost a collection of garbage more than a decision.
interface Carrier {
  [EXCHANGE]?: Exchange
}

/** A request and its response, as everything sees them that meters it: their quotas, the newest first. */
export class Exchange {
  /** The exchange of a request, made when it is metered first. */
  static of(carrier: object): Exchange {
    const known = (carrier as Carrier)[EXCHANGE]
    if (known !== undefined) return known
    const made = new Exchange()
    ;(carrier as Carrier)[EXCHANGE] = made
    return made
  }

  /** The exchange of a request that is metered. */
  static find(carrier: object): Exchange | undefined {
    return (carrier as Carrier)[EXCHANGE]
  }

  /** What watches the response, where its framework writes it in many ways. */
  watch: object | undefined
  #newest: MeteredRequest | undefined
  /** What {@link withOthers} answered last. */
  #last: RateLimitFields | undefined

  get newest(): MeteredRequest | undefined {
    return this.#newest
  }

  /** Whether the end of the response settles anything. */
  get settlesAtEnd(): boolean {
    return this.#some((metered) => metered.settlesAtEnd)
  }

  add(metered: MeteredRequest): void {
    metered.before = this.#newest
    this.#newest = metered
  }

  /** Whether an engine has decided about the request already. */
  isMeteredBy(engine: object): boolean {
    return this.#some((metered) => metered.engine === engine)
  }

  /** Whether a head with this status will have to wait for a store. */
  holdsBack(status: number, isHungUp: boolean): boolean {
    return this.#some((metered) => metered.holdsBack(status, isHungUp))
  }

  /** The `RateLimit` fields of a head with this status; `undefined`: it has none. */
  fieldsFor(status: number, isHungUp: boolean): RateLimitFields | undefined {
    let fields: RateLimitFields | undefined
    for (let metered = this.#newest; metered !== undefined; metered = metered.before) {
      const own = metered.fields(status, isHungUp)
      if (own !== undefined) fields = fields === undefined ? own : behind(own, fields.policy, fields.limit)
    }
    return fields
  }

  /**
   * The fields merged with a head's own: lists of others stay first, and ours replace those that this method returned last.
   *
   * @param policy the head's current `RateLimit-Policy`
   * @param limit the same of `RateLimit`
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

  /** The `X-RateLimit` fields of a head with this status, of the newest quota that has some. */
  legacyFieldsFor(status: number, isHungUp: boolean): NamedFields | undefined {
    let fields: NamedFields | undefined
    for (let metered = this.#newest; metered !== undefined && fields === undefined; metered = metered.before) {
      fields = metered.legacyFields(status, isHungUp)
    }
    return fields
  }

  /** All fields of a head with this status. */
  headersFor(status: number, isHungUp: boolean): NamedFields {
    return { ...namedFields(this.fieldsFor(status, isHungUp)), ...this.legacyFieldsFor(status, isHungUp) }
  }

  /** Settles by the status of the head. @returns a promise for the head to wait for; it never rejects */
  settle(status: number, isHungUp: boolean): Promise<void> | undefined {
    this.settleByStatus(status, isHungUp)
    return this.pending
  }

  /** {@link settle} for those who wait for the end. */
  settleByStatus(status: number, isHungUp: boolean): void {
    for (let metered = this.#newest; metered !== undefined; metered = metered.before)
      metered.settleByStatus(status, isHungUp)
  }

  /** Settles holds at the end of the response. @returns a promise for the last byte to wait for; it never rejects */
  end(): Promise<void> | undefined {
    for (let metered = this.#newest; metered !== undefined; metered = metered.before) metered.end()
    return this.pending
  }

  /** The response closed early: holds are settled after a grace, unless a handler settles before. */
  abort(): void {
    for (let metered = this.#newest; metered !== undefined; metered = metered.before) metered.abort()
  }

  /** Settlements in flight; never rejects. */
  get pending(): Promise<void> | undefined {
    let all: Promise<void> | undefined
    for (let metered = this.#newest; metered !== undefined; metered = metered.before) {
      const { pending } = metered
      if (pending !== undefined) all = all === undefined ? pending : Promise.all([all, pending]).then(() => undefined)
    }
    return all
  }

  /** Settles everything that is not settled yet, because the handler has failed. Never rejects. */
  async fail(): Promise<void> {
    const settling: Promise<unknown>[] = []
    for (let metered = this.#newest; metered !== undefined; metered = metered.before) settling.push(metered.fail())
    // A settlement that fails has been logged; the caller must get the error at hand.
    await Promise.allSettled(settling)
  }

  #some(is: (metered: MeteredRequest) => boolean): boolean {
    for (let metered = this.#newest; metered !== undefined; metered = metered.before) if (is(metered)) return true
    return false
  }
}

/** The items of a head's list field that are not ours. */
function others(present: PresentField, ours: string | undefined): string | undefined {
  const text = present?.toString()
  return text === ours ? undefined : text
}

/** Fields in one list with those of others, which come first. */
function behind(fields: RateLimitFields, policy: string | undefined, limit: string | undefined): RateLimitFields {
  return {
    policy: policy === undefined ? fields.policy : `${policy}, ${fields.policy}`,
    limit: limit === undefined ? fields.limit : `${limit}, ${fields.limit}`,
  }
}
