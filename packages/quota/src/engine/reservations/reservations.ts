import type { Decision } from '../../decision/decision.ts'
import { QuotaError } from '../../errors/quota-error.ts'
import { amountOf, type Cost, isFree, noneOf } from '../../policy/units.ts'
import type { SettleRequest } from '../../store/quota-store.ts'
import type { Clock } from '../../time/clock.ts'
import { type Decisions, isKnown } from '../decide/decisions.ts'
import type { OpenReservation } from '../decide/near-limits.ts'
import { answered, type Run, type Task } from '../decide/store-call.ts'
import type { Demands, Purpose, Replied, StoreFailure, TakeDemand, Takes } from '../decide/takes.ts'
import type { CommitResult, Reservation, ReserveRequest } from '../requests.ts'
import {
  holdRequired,
  refusedReservation,
  repeatedReservation,
  reservedHandle,
  type SettleAs,
  type Settleable,
} from './handle.ts'
import { commitAbove, type HoldDeps, HoldHandle, type HoldIdentity } from './hold.ts'

interface ReservationsDeps extends HoldDeps {
  /** Whether counters and settings are synchronous. */
  readonly sync: boolean
  readonly demands: Demands
  readonly takes: Takes
  readonly decisions: Decisions
  readonly clock: Clock
}

/** Makes reservations from replies of stores. */
export class Reservations {
  readonly #deps: ReservationsDeps

  constructor(deps: ReservationsDeps) {
    this.#deps = deps
  }

  /** Makes a reservation of each request. @param run whether the handle's calls return promises */
  purpose(run: Run): Purpose<ReserveRequest, Reservation> {
    const { check, live, demands, reports, decisions } = this.#deps
    return {
      demand(request) {
        const operation = check.operation(request, live.compiled)
        return demands.of(request, operation, check.key(request, operation), reports.start())
      },
      // The store must see requests with an id, even if they are free.
      free: (demand) => {
        const blocked = decisions.refuseBlocked(demand)
        if (blocked !== undefined) return refusedReservation(run, blocked)
        return isUncounted(demand) && isKnown(demand) ? this.#free(demand, run) : undefined
      },
      of: (demand, reply) =>
        reply.outcome === 'failed' && live.loaded && isUncounted(demand)
          ? this.#free(demand, run)
          : this.#of(demand, reply, run),
    }
  }

  /** @throws {QuotaError} `too_many_holds`, `id_conflict`, `quota_unavailable` */
  #of(demand: TakeDemand, reply: Replied, run: Run): Reservation {
    const { decisions, near } = this.#deps
    if (reply.outcome === 'failed') return this.#withoutStore(demand, reply, run)
    const { outcome, states } = reply
    if (outcome === 'duplicate' || outcome === 'cancelled' || outcome === 'expired') {
      const { units } = this.#deps.check
      return repeatedReservation(run, outcome, amountOf(units, noneOf(units)))
    }
    if (outcome === 'too_many_holds') {
      const message = `the subject has ${demand.hold!.maxHolds} open holds (maxHolds): settle them, or let them end`
      throw new QuotaError('too_many_holds', message)
    }
    if (outcome === 'conflict') {
      throw new QuotaError('id_conflict', `the id was used for another operation or cost than "${demand.operation}"`)
    }
    const decision = decisions.of(demand, reply, false)
    if (!decision.allowed) return refusedReservation(run, decision)
    if (demand.hold !== undefined) {
      const identity = identityOf(demand)
      const endsAt = reply.endsAt!
      near.reserved(demand, decision, { nonce: identity.id.nonce, endsAt })
      return reservedHandle(new HoldHandle(this.#deps, identity, endsAt), run, decision)
    }
    const { subject, set, quotas, id } = demand
    const { layers } = quotas
    const settlement: Settlement = (refunds, as) => ({ subject, set, layers, states, refunds, as, id })
    const open = near.reserved(demand, decision)
    return reservedHandle(
      new PlainReservation(this.#deps, demand, { settlement, isNamed: id !== undefined, open }),
      run,
      decision,
    )
  }

  /** Makes a reservation that costs nothing and has nothing to settle. */
  #free(demand: TakeDemand, run: Run): Reservation {
    const decision = this.#deps.decisions.free(demand)
    return reservedHandle(new PlainReservation(this.#deps, demand, { settlement: () => undefined }), run, decision)
  }

  #withoutStore(demand: TakeDemand, failure: StoreFailure, run: Run): Reservation {
    const { decision, refund } = this.#deps.decisions.withoutStore(demand, failure)
    const settlement: Settlement = (amounts) => {
      const posting = refund?.(amounts)
      return posting && { ...posting, as: 'committed' }
    }
    const isUnrecorded = demand.hold !== undefined
    return reservedHandle(new PlainReservation(this.#deps, demand, { settlement, isUnrecorded }), run, decision)
  }
}

/** Whether nothing of a reservation has to be stored. */
function isUncounted({ price, id }: TakeDemand): boolean {
  return isFree(price) && id === undefined
}

/** The hold that a demand requests. */
export function identityOf({ subject, set, operation, plan, numbers, id, hold, price }: TakeDemand): HoldIdentity {
  return { subject, set, operation, plan, numbers, id: id!, ttlMs: hold!.ttlMs, slot: price.at(-1) !== 0 }
}

/**
 * Makes the request that settles a charge; `undefined`: the store isn't called.
 *
 * @param refunds one amount per unit
 */
type Settlement = (refunds: readonly number[], as: SettleAs) => SettleRequest | undefined

interface PlainDetails {
  readonly settlement: Settlement
  readonly isNamed?: boolean
  /** Whether it should be a hold, but the failure policy admitted it and the store has no record. */
  readonly isUnrecorded?: boolean
  readonly open?: OpenReservation | undefined
}

/** A reservation that isn't a hold. It stays charged unless its holder refunds it. */
class PlainReservation implements Settleable {
  readonly isNamed: boolean
  readonly #deps: ReservationsDeps
  readonly #demand: TakeDemand
  readonly #details: PlainDetails
  /** One amount per unit. */
  readonly #reserved: readonly number[]

  constructor(deps: ReservationsDeps, demand: TakeDemand, details: PlainDetails) {
    this.isNamed = details.isNamed === true
    this.#deps = deps
    this.#demand = demand
    this.#details = details
    this.#reserved = demand.costs.slice(0, -1)
  }

  /** @throws {QuotaError} `invalid_cost`, `commit_above_reservation` */
  checkCommit(actual: Cost | undefined): void {
    if (actual === undefined) return
    const wanted = this.#wanted('committed', actual)
    const isAbove = wanted.some((amount, unit) => amount > this.#reserved[unit]!)
    if (!isAbove || this.#details.isUnrecorded === true) return
    throw commitAbove(this.#deps.check.units, { actual: wanted, reserved: this.#reserved }, "it isn't a hold (`ttlMs`)")
  }

  *settle(as: SettleAs, actual: Cost | undefined): Task<CommitResult> {
    const { calls, check, near } = this.#deps
    const { units } = check
    const wanted = this.#wanted(as, actual)
    const charged = this.#reserved.map((amount, unit) => Math.min(wanted[unit]!, amount))
    const uncharged = wanted.map((amount, unit) => amount - charged[unit]!)
    const isLess = charged.some((amount, unit) => amount < this.#reserved[unit]!)
    // A full commit changes no counter, and only this handle could cancel, so the store needn't be called.
    if (isLess || as === 'cancelled') {
      const refunds = this.#reserved.map((amount, unit) => amount - charged[unit]!)
      const request = this.#details.settlement(refunds, as)
      if (request !== undefined) yield* calls.settle(request)
    }
    if (isLess) this.#deps.freed(this.#demand.subject)
    const { open } = this.#details
    if (open !== undefined) near.settled(open)
    return { charged: amountOf(units, charged), uncharged: amountOf(units, uncharged) }
  }

  /** @throws {QuotaError} `hold_required`, `invalid_ttl` */
  *extend(ttlMs: number | undefined): Task<number> {
    if (this.#details.isUnrecorded !== true) throw holdRequired('extend')
    return yield* answered(true, this.#deps.clock.now() + this.#deps.check.ttl(ttlMs))
  }

  /** @throws {QuotaError} `hold_required`, `invalid_cost` */
  *add(cost: Cost): Task<Decision> {
    if (this.#details.isUnrecorded !== true) throw holdRequired('add')
    const { demands, takes, decisions, check, sync } = this.#deps
    const addition: Purpose<readonly number[], Decision> = {
      demand: (costs) => demands.more(this.#demand, costs),
      free: () => undefined,
      of: (demand, reply) => decisions.of(demand, reply),
    }
    const costs = check.added(cost)
    return sync ? takes.takeSync(costs, addition) : yield* answered(false, takes.take(costs, addition))
  }

  /** The actual cost, one amount per unit. */
  #wanted(as: SettleAs, actual: Cost | undefined): readonly number[] {
    const given = this.#deps.check.actual(actual)
    if (as === 'committed' && given === undefined) return this.#reserved
    return this.#reserved.map((reserved, unit) => (as === 'cancelled' ? 0 : (given?.[unit] ?? reserved)))
  }
}
