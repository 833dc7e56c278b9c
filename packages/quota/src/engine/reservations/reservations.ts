import type { AdmittedDecision } from '../../decision/decision.ts'
import { QuotaError } from '../../errors/quota-error.ts'
import { amountOf, noneOf } from '../../policy/units.ts'
import type { TakeReply } from '../../store/quota-store.ts'
import type { TakeDemand } from '../decide/demands.ts'
import type { Answering } from '../decide/driver.ts'
import { NoAnswer } from '../decide/takes.ts'
import type { Reservation } from '../requests.ts'
import { Charge, type ChargeParts, type Settlement } from './charge.ts'
import { type Held, handleOf, refusedReservation, repeatedReservation } from './handle.ts'
import type { Hold, HoldTerms } from './hold.ts'

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
      const { units } = this.#parts.check
      return repeatedReservation(answering, outcome, amountOf(units, noneOf(units)))
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
    const settlement: Settlement = (giveBack, as) => ({ subject, category, layers, states, giveBack, as, id })
    return this.#held(decision, new Charge(this.#parts, demand, settlement, { isNamed: id !== undefined }), answering)
  }

  /** A reservation of what costs nothing: there is nothing to settle. */
  free(demand: TakeDemand, answering: Answering): Reservation {
    const decision = this.#parts.decisions.free(demand)
    return this.#held(decision, new Charge(this.#parts, demand, () => undefined), answering)
  }

  #withoutStore(demand: TakeDemand, noAnswer: NoAnswer, answering: Answering): Reservation {
    const { decision, giveBack } = this.#parts.decisions.withoutStore(demand, noAnswer)
    const settlement: Settlement = (amounts) => {
      const posting = giveBack(amounts)
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
