import type { Decision } from '../../decision/decision.ts'
import { amountOf, type Cost } from '../../policy/units.ts'
import type { Answer } from '../../store/answer.ts'
import type { SettleRequest } from '../../store/quota-store.ts'
import type { RequestCheck } from '../decide/check.ts'
import type { CounterCalls } from '../decide/counter-calls.ts'
import type { Decisions } from '../decide/decisions.ts'
import type { Demands, TakeDemand } from '../decide/demands.ts'
import type { Driver } from '../decide/driver.ts'
import type { Takes } from '../decide/takes.ts'
import type { CommitResult } from '../requests.ts'
import { type Held, holdRequired, type SettleAs } from './handle.ts'
import { commitAbove } from './hold.ts'

/** What the charges of an engine are settled with. */
export interface ChargeParts {
  readonly check: RequestCheck
  readonly calls: CounterCalls
  readonly driver: Driver
  readonly demands: Demands
  readonly takes: Takes
  readonly decisions: Decisions
  /**
   * When a hold would end that the failure policy admitted without the store.
   *
   * @throws {QuotaError} `invalid_ttl`
   */
  readonly endWithoutStore: (ttlMs: number | undefined) => number
}

/**
 * What a charge is settled by: the request to the store; `undefined`: it need not hear of it.
 *
 * @param giveBack one number a unit
 */
export type Settlement = (giveBack: readonly number[], as: SettleAs) => SettleRequest | undefined

/** A reservation that is no hold: what its holder does not give back stays charged. */
export class Charge implements Held {
  readonly isNamed: boolean
  readonly #parts: ChargeParts
  readonly #demand: TakeDemand
  /** One number a unit. */
  readonly #reserved: readonly number[]
  readonly #settlement: Settlement
  /** It was to be a hold, and the store has none: the failure policy admitted it. */
  readonly #isUnrecorded: boolean

  constructor(
    parts: ChargeParts,
    demand: TakeDemand,
    settlement: Settlement,
    { isNamed = false, isUnrecorded = false }: { readonly isNamed?: boolean; readonly isUnrecorded?: boolean } = {},
  ) {
    this.isNamed = isNamed
    this.#parts = parts
    this.#demand = demand
    this.#reserved = demand.costs.slice(0, -1)
    this.#settlement = settlement
    this.#isUnrecorded = isUnrecorded
  }

  /** @throws {QuotaError} `invalid_cost`, `commit_above_reservation` */
  checkCommit(actual: Cost | undefined): void {
    const wanted = this.#wanted('committed', actual)
    const isAbove = wanted.some((amount, unit) => amount > this.#reserved[unit]!)
    if (!isAbove || this.#isUnrecorded) return
    throw commitAbove(this.#parts.check.units, wanted, this.#reserved, 'it is no hold (`ttlMs`)')
  }

  settle(as: SettleAs, actual: Cost | undefined): Answer<CommitResult> {
    const { calls, driver, check } = this.#parts
    const wanted = this.#wanted(as, actual)
    const charged = this.#reserved.map((amount, unit) => Math.min(wanted[unit]!, amount))
    const giveBack = this.#reserved.map((amount, unit) => amount - charged[unit]!)
    const uncharged = wanted.map((amount, unit) => amount - charged[unit]!)
    const result = { charged: amountOf(check.units, charged), uncharged: amountOf(check.units, uncharged) }
    // A full commit changes no counter, and only this handle could cancel: the store need not hear of it.
    const isFull = as === 'committed' && giveBack.every((amount) => amount === 0)
    const request = isFull ? undefined : this.#settlement(giveBack, as)
    return request === undefined
      ? result
      : calls.call(
          driver,
          () => calls.settle(request),
          () => result,
        )
  }

  /** @throws {QuotaError} `hold_required`, `invalid_ttl` */
  extend(ttlMs: number | undefined): Answer<number> {
    if (!this.#isUnrecorded) throw holdRequired('extend')
    return this.#parts.endWithoutStore(ttlMs)
  }

  /** @throws {QuotaError} `hold_required`, `invalid_cost` */
  add(cost: Cost): Answer<Decision> {
    if (!this.#isUnrecorded) throw holdRequired('add')
    const { demands, takes, decisions, check } = this.#parts
    const more = demands.more(this.#demand, check.added(cost))
    return takes.take(more, (demand, reply) => decisions.of(demand, reply))
  }

  /** What the work came to, one number a unit. */
  #wanted(as: SettleAs, actual: Cost | undefined): readonly number[] {
    const given = this.#parts.check.actual(actual)
    return this.#reserved.map((reserved, unit) => (as === 'cancelled' ? 0 : (given?.[unit] ?? reserved)))
  }
}
