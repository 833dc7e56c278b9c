import type { Decision } from '../../decision/decision.ts'
import { costsOf } from '../../policy/units.ts'
import type { Answer } from '../../store/answer.ts'
import type { SettleRequest } from '../../store/quota-store.ts'
import { checkTokens } from '../decide/check.ts'
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

/** What a charge is settled by: the request to the store; `undefined`: it need not hear of it. */
export type Settlement = (tokens: number, as: SettleAs) => SettleRequest | undefined

/** A reservation that is no hold: what its holder does not give back stays charged. */
export class Charge implements Held {
  readonly isNamed: boolean
  readonly #parts: ChargeParts
  readonly #demand: TakeDemand
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
    this.#settlement = settlement
    this.#isUnrecorded = isUnrecorded
  }

  /** @throws {QuotaError} `invalid_cost`, `commit_above_reservation` */
  checkCommit(actual: number | undefined): void {
    if (actual === undefined) return
    checkTokens(actual, 'commit', 0)
    const reserved = this.#demand.costs[0]!
    if (actual > reserved && !this.#isUnrecorded) throw commitAbove(actual, reserved, 'it is no hold (`ttlMs`)')
  }

  settle(as: SettleAs, actual: number | undefined): Answer<CommitResult> {
    const reserved = this.#demand.costs[0]!
    const wanted = as === 'cancelled' ? 0 : (actual ?? reserved)
    const charged = Math.min(wanted, reserved)
    const result = { charged, uncharged: wanted - charged }
    // A full commit changes no counter, and only this handle could cancel: the store need not hear of it.
    const isFull = as === 'committed' && charged === reserved
    const request = isFull ? undefined : this.#settlement(reserved - charged, as)
    const { calls, driver } = this.#parts
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
  add(tokens: number): Answer<Decision> {
    if (!this.#isUnrecorded) throw holdRequired('add')
    checkTokens(tokens, 'add', 1)
    const { demands, takes, decisions } = this.#parts
    const more = demands.more(this.#demand, costsOf(tokens, false))
    return takes.take(more, (demand, reply) => decisions.of(demand, reply))
  }
}
