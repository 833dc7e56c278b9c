import type { Decision } from '../decision/decision.ts'
import type { CommitResult } from '../engine/requests.ts'
import type { Counting, OneUnit } from '../policy/units.ts'
import type { Exchange } from './exchange.ts'
import type { MeteredRequest } from './metered-request.ts'
import type { RequestQuota } from './options.ts'
import type { ParsedMeterOptions } from './parse-options.ts'

/** The options of a meter that an admitted request still needs. */
export type AdmittedOptions = Pick<ParsedMeterOptions<never>, 'quota' | 'logger'>

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
