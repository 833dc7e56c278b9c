import type { AdmittedDecision, Decision } from '../../decision/decision.ts'
import { QuotaError } from '../../errors/quota-error.ts'
import { costsOf } from '../../policy/units.ts'
import type { Answer, SettleRequest, TakeReply } from '../../store/quota-store.ts'
import { checkTokens } from '../decide/check.ts'
import type { CounterCalls } from '../decide/counter-calls.ts'
import type { Decisions } from '../decide/decisions.ts'
import type { Demands, TakeDemand } from '../decide/demands.ts'
import type { Answering, Driver } from '../decide/driver.ts'
import { NoAnswer, type Takes } from '../decide/takes.ts'
import type { CommitResult, Reservation } from '../requests.ts'
import { type Held, handleOf, holdRequired, refusedReservation, repeatedReservation, type SettleAs } from './handle.ts'
import { commitAbove, type Hold, type HoldTerms } from './hold.ts'

export interface ReservationsParts extends ChargeParts {
  readonly hold: (terms: HoldTerms, endsAt: number) => Hold
}

/** Makes reservations from what stores answer. */
export class Reservations {
  readonly #parts: ReservationsParts

  constructor(parts: ReservationsParts) {
    this.#parts = parts
  }

  /**
   * @param answering how the calls of the handle answer
   * @throws {QuotaError} `too_many_holds`, `id_conflict`, `quota_unavailable`
   */
  of(demand: TakeDemand, reply: TakeReply | NoAnswer, answering: Answering): Reservation {
    const { decisions } = this.#parts
    if (reply instanceof NoAnswer) return this.#withoutStore(demand, reply, answering)
    const { outcome, states } = reply
    if (outcome === 'duplicate' || outcome === 'cancelled' || outcome === 'expired') {
      return repeatedReservation(answering, outcome)
    }
    if (outcome === 'too_many_holds') {
      const message = `the subject has ${demand.hold!.maxHolds} open holds (maxHolds): settle them, or let them end`
      throw new QuotaError('too_many_holds', message)
    }
    if (outcome === 'conflict') {
      throw new QuotaError('id_conflict', `the id was used for another operation or cost than "${demand.operation}"`)
    }
    const decision = decisions.of(demand, reply)
    if (!decision.allowed) return refusedReservation(answering, decision)
    if (demand.hold !== undefined) {
      return this.#held(decision, this.#parts.hold(termsOf(demand), reply.endsAt!), answering)
    }
    const { subject, category, quotas, id } = demand
    const { layers } = quotas
    const settlement: Settlement = (tokens, as) => {
      return { subject, category, layers, states, giveBack: [tokens], as, id }
    }
    return this.#held(decision, new Charge(this.#parts, demand, settlement, { isNamed: id !== undefined }), answering)
  }

  /** A reservation of what costs nothing: there is nothing to settle. */
  free(demand: TakeDemand, answering: Answering): Reservation {
    const decision = this.#parts.decisions.free(demand)
    return this.#held(decision, new Charge(this.#parts, demand, () => undefined), answering)
  }

  #withoutStore(demand: TakeDemand, noAnswer: NoAnswer, answering: Answering): Reservation {
    const { decision, giveBack } = this.#parts.decisions.withoutStore(demand, noAnswer)
    const settlement: Settlement = (tokens) => {
      const posting = giveBack(tokens)
      return posting && { ...posting, as: 'committed' }
    }
    const isUnrecorded = demand.hold !== undefined
    return this.#held(decision, new Charge(this.#parts, demand, settlement, { isUnrecorded }), answering)
  }

  #held(decision: AdmittedDecision, held: Held, answering: Answering): Reservation {
    return handleOf(this.#parts.driver, held, answering, { status: 'reserved', allowed: true, decision } as const)
  }
}

/** The hold that a demand makes. */
export function termsOf({ subject, category, operation, plan, id, hold, price }: TakeDemand): HoldTerms {
  return { subject, category, operation, plan, id: id!, ttlMs: hold!.ttlMs, slot: price.at(-1) !== 0 }
}

/** What the charges of an engine are settled with. */
interface ChargeParts {
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
type Settlement = (tokens: number, as: SettleAs) => SettleRequest | undefined

/** A reservation that is no hold: what its holder does not give back stays charged. */
class Charge implements Held {
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
