import { type DecisionFrame, type Demand, refusalsOf } from '../../decision/decide.ts'
import type { Decision } from '../../decision/decision.ts'
import { admitted, refused } from '../../decision/outcome.ts'
import { QuotaError } from '../../errors/quota-error.ts'
import { type Amount, amountOf, type Cost, noneOf } from '../../policy/units.ts'
import type { GrowRequest, HoldRef, HoldReply, SettleHoldReply, SettleHoldRequest } from '../../store/hold-port.ts'
import type { Subject } from '../../store/subjects.ts'
import { MAX_USED } from '../../windows/row.ts'
import type { RequestCheck } from '../decide/check.ts'
import type { CounterCalls } from '../decide/counter-calls.ts'
import type { Decisions } from '../decide/decisions.ts'
import type { NearLimits, Payer } from '../decide/near-limits.ts'
import type { Reports } from '../decide/reports.ts'
import type { Task } from '../decide/store-call.ts'
import type { CommitResult } from '../requests.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import type { LivePeriods } from '../settings/live-subjects.ts'
import type { SettleAs, Settleable } from './handle.ts'
import { type HoldName, holdToken } from './hold-token.ts'

/** Dependencies of an engine's holds. */
export interface HoldDeps {
  readonly calls: CounterCalls
  readonly check: RequestCheck
  readonly live: LiveSettings
  readonly periods: LivePeriods
  readonly decisions: Pick<Decisions, 'frameOf'>
  readonly reports: Reports
  readonly near: NearLimits
  readonly freed: (subject: Subject) => void
}

/** Identifies a hold and its subject. The token contains the same. */
export interface HoldIdentity extends HoldRef, Payer {
  readonly subject: Subject
  readonly slot: boolean
  /** The lifetime when it was reserved, in milliseconds. */
  readonly ttlMs: number
}

/** A hold for its handle. The record is in the store, so every call goes there. */
export class HoldHandle implements Settleable {
  readonly isNamed = true
  readonly ttlMs: number
  /** When it expires, according to the store's last reply. */
  endsAt: number
  readonly #deps: HoldDeps
  readonly #identity: HoldIdentity
  #token: string | undefined

  constructor(deps: HoldDeps, identity: HoldIdentity, endsAt: number) {
    this.ttlMs = identity.ttlMs
    this.endsAt = endsAt
    this.#deps = deps
    this.#identity = identity
  }

  get hold(): this {
    return this
  }

  /** Made on access, because most holds are settled where they were reserved. */
  get token(): string {
    this.#token ??= holdToken(nameOf(this.#identity))
    return this.#token
  }

  get #frame(): DecisionFrame {
    return this.#deps.decisions.frameOf(this.#identity)
  }

  /** @throws {QuotaError} `invalid_cost` */
  checkCommit(actual: Cost | undefined): void {
    this.#deps.check.actual(actual)
  }

  *extend(ttlMs: number = this.ttlMs): Task<number> {
    const { calls, check, near } = this.#deps
    const { subject, id } = this.#identity
    const request = { subject, id, ttlMs: check.ttl(ttlMs) }
    const { outcome, endsAt } = yield* calls.holds((holds) => holds.extend(request))
    if (outcome !== 'held' || endsAt === undefined) throw this.#gone(outcome)
    this.endsAt = endsAt
    const charge = near.holdOf(id.nonce)
    if (charge !== undefined) charge.endsAt = endsAt
    return endsAt
  }

  *add(cost: Cost): Task<Decision> {
    const { calls, live, periods, check } = this.#deps
    const costs = check.added(cost)
    const { subject, set, id } = this.#identity
    const { request, reply } = yield* calls.holdsInForce(
      this.#identity,
      (quotas) => {
        return { subject, set, id, costs, quotas, periods: periods.of(quotas), settingsRevision: live.revision }
      },
      (holds, request) => holds.grow(request),
    )
    return this.#grown(request, reply)
  }

  *settle(as: SettleAs, cost: Cost | undefined): Task<CommitResult> {
    const { calls, live, periods, check } = this.#deps
    const actual = check.actual(cost)
    const { subject, set, id, operation } = this.#identity
    const { request, reply } = yield* calls.holdsInForce(
      this.#identity,
      (quotas): SettleHoldRequest => {
        const { overrun, maxOverrun } = live.compiled.operations.get(operation)!
        return { subject, set, id, as, actual, overrun, maxOverrun, quotas, periods: periods.of(quotas) }
      },
      (holds, request) => holds.settle(request),
    )
    this.#freed(as, reply)
    const result = this.#settled(request, reply)
    this.#near(request, reply)
    return result
  }

  #freed(as: SettleAs, { outcome, reserved, charged }: SettleHoldReply): void {
    const { subject, slot } = this.#identity
    const isLess = as === 'cancelled' || slot || reserved.some((amount, unit) => charged[unit]! < amount)
    if (outcome === 'settled' && isLess) this.#deps.freed(subject)
  }

  /** @throws {QuotaError} `reservation_expired`; `invalid_cost` for more than a hold can have */
  #grown(request: GrowRequest, reply: HoldReply): Decision {
    const { outcome } = reply
    if (outcome !== 'held' && outcome !== 'refused') throw this.#gone(outcome)
    const demand = this.#demand(request, request.costs)
    if (outcome === 'refused' && refusalsOf(this.#frame, demand, reply).length === 0) {
      throw new QuotaError('invalid_cost', `add: a hold has at most ${MAX_USED} of each unit`)
    }
    const decision =
      outcome === 'held' ? admitted(demand, reply, this.#frame, 'store') : refused(demand, reply, this.#frame)
    const { reports, near } = this.#deps
    reports.decided(decision, demand, undefined)
    const charge = near.holdOf(request.id.nonce)
    if (decision.allowed && charge !== undefined) near.charged(decision, request.costs, charge)
    return decision
  }

  /** @throws {QuotaError} `commit_above_reservation`, `reservation_expired`, `reservation_cancelled` */
  #settled(request: SettleHoldRequest, reply: SettleHoldReply): CommitResult {
    const { outcome, added } = reply
    const { units } = this.#deps.check
    const shown = (vector: readonly number[]): Amount => amountOf(units, vector)
    const { subject, operation } = this.#identity
    // Cancelling charges nothing, even if the hold is gone.
    if (request.as === 'cancelled') return { charged: shown(noneOf(units)), uncharged: shown(noneOf(units)) }
    if (outcome === 'above') {
      const wanted = reply.reserved.map((amount, unit) => request.actual![unit] ?? amount)
      throw commitAbove(units, { actual: wanted, reserved: reply.reserved }, 'the operation has no `overrun`')
    }
    if (outcome === 'cancelled') {
      throw new QuotaError('reservation_cancelled', `commit: this hold of "${operation}" was cancelled`)
    }
    if (outcome !== 'settled') throw this.#gone('expired')
    const result = { charged: shown(reply.charged), uncharged: shown(reply.uncharged) }
    // The commit that settled has already reported the charge, so a repeat doesn't.
    if (added === undefined) return result
    if (reply.reserved.some((amount, unit) => reply.charged[unit]! + reply.uncharged[unit]! > amount)) {
      this.#deps.reports.overrun({ subject, operation, ...result, reserved: shown(reply.reserved) })
    }
    return result
  }

  /** Reports limits that the settlement took across thresholds. */
  #near(request: SettleHoldRequest, reply: SettleHoldReply): void {
    const { near } = this.#deps
    const { added, states, charged } = reply
    const charge = near.ended(request.id.nonce)
    const isMore = states.length > 0 && added?.some((amount) => amount > 0) === true
    if (isMore) {
      const costs = [...added, 0]
      near.charged(admitted(this.#demand(request, costs), reply, this.#frame, 'store'), costs)
    }
    if (charge !== undefined) near.settled(charge)
    // The process that reserved it doesn't see the commit.
    else if (!isMore && added !== undefined && request.as === 'committed')
      near.committed(this.#identity, [...charged, 0])
  }

  /** The additional charge, as a demand. */
  #demand({ quotas, periods }: Pick<GrowRequest, 'quotas' | 'periods'>, costs: readonly number[]): Demand {
    const { subject, operation, set, plan, numbers } = this.#identity
    const settingsVersion = this.#deps.live.compiled.settings.version
    return { subject, operation, set, plan, numbers, costs, quotas, periods, settingsVersion }
  }

  #gone(outcome: HoldReply['outcome']): QuotaError {
    const { operation } = this.#identity
    if (outcome === 'settled') {
      return new QuotaError('reservation_expired', `this hold of "${operation}" was already committed or cancelled`)
    }
    const message = `this hold of "${operation}" has expired and its tokens went back: extend it while the work lasts`
    return new QuotaError('reservation_expired', message)
  }
}

function nameOf({ subject, operation, plan, numbers, id, slot, ttlMs }: HoldIdentity): HoldName {
  return { subject, operation, plan, numbers, id: id.id, nonce: id.nonce, fingerprint: id.fingerprint, slot, ttlMs }
}

/** The error of a commit above the reserved amount of a unit. */
export function commitAbove(
  units: readonly string[],
  { actual, reserved }: Readonly<Record<'actual' | 'reserved', readonly number[]>>,
  why: string,
): QuotaError {
  const above = units.flatMap((unit, at) =>
    actual[at]! > reserved[at]! ? [`can't commit ${actual[at]} ${unit}, only ${reserved[at]} reserved`] : [],
  )
  const message = `commit: ${above.join(', ')}; ${why}. Reserve the most that the work may cost, or use add()`
  return new QuotaError('commit_above_reservation', message)
}
