import type { DecisionFrame } from '../../decision/decide.ts'
import type { Decision } from '../../decision/decision.ts'
import { type Asked, admitted, type Counted, refused } from '../../decision/outcome.ts'
import { QuotaError } from '../../errors/quota-error.ts'
import type { Quotas } from '../../policy/limits.ts'
import { costsOf, takesSlots } from '../../policy/units.ts'
import type {
  ExtendRequest,
  GrowRequest,
  HoldRef,
  HoldReply,
  SettleHoldReply,
  SettleHoldRequest,
} from '../../store/hold-port.ts'
import type { ReservationId } from '../../store/reservation-id.ts'
import { checkTokens, type RequestCheck } from '../decide/check.ts'
import type { Telling } from '../decide/reports.ts'
import type { CommitResult } from '../requests.ts'
import type { LivePeriods } from '../settings/live-periods.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import { type HoldName, holdToken } from './hold-token.ts'

/** What the holds of an engine are worked with. */
export interface HoldParts {
  readonly check: RequestCheck
  readonly live: LiveSettings
  readonly periods: LivePeriods
  readonly frames: readonly DecisionFrame[]
  readonly telling: Telling
}

/** One hold as its handle knows it: makes what a store is asked, and reads what it answers. It asks nothing itself. */
export class HeldTokens {
  readonly asked: Asked
  readonly token: string
  /** When it ends, as last heard. */
  endsAt: number
  readonly #parts: HoldParts
  readonly #ref: HoldRef
  readonly #ttlMs: number

  /** @param asked its `costs` are what was reserved, as far as this process knows */
  constructor(parts: HoldParts, asked: Asked, id: ReservationId, ttlMs: number, endsAt: number) {
    const { subject, category, operation, plan, costs } = asked
    const { id: text, nonce, fingerprint } = id
    const name = { subject, category: parts.frames[category]!.category, operation, plan, id: text, nonce, fingerprint }
    this.asked = asked
    this.token = holdToken({ ...name, slot: takesSlots(costs), ttlMs } satisfies HoldName)
    this.endsAt = endsAt
    this.#parts = parts
    this.#ref = { subject, category, id }
    this.#ttlMs = ttlMs
  }

  get ttlMs(): number {
    return this.#ttlMs
  }

  /** @throws {QuotaError} `invalid_ttl` */
  extendRequest(ttlMs: number = this.#ttlMs): ExtendRequest {
    return { ...this.#ref, ttlMs: this.#parts.check.ttl(ttlMs) }
  }

  /** @throws {QuotaError} `reservation_expired` */
  extended({ outcome, endsAt }: HoldReply): number {
    if (outcome !== 'held' || endsAt === undefined) throw this.#gone(outcome)
    this.endsAt = endsAt
    return endsAt
  }

  /** @throws {QuotaError} `invalid_cost` */
  growRequest(tokens: number, quotas: Quotas): GrowRequest {
    checkTokens(tokens, 'add', 1)
    const { periods, live } = this.#parts
    const costs = costsOf(tokens, false)
    return { ...this.#ref, costs, quotas, periods: periods.of(quotas), settingsRevision: live.revision }
  }

  /** @throws {QuotaError} `reservation_expired` */
  grown({ costs, quotas, periods }: GrowRequest, { outcome, now, states }: HoldReply): Decision {
    if (outcome !== 'held' && outcome !== 'refused') throw this.#gone(outcome)
    const { frames, live, telling } = this.#parts
    const asked = { ...this.asked, costs }
    const counted: Counted = { now, states, quotas, periods, settingsVersion: live.compiled.settings.version }
    const frame = frames[asked.category]!
    const decision = outcome === 'held' ? admitted(asked, counted, frame, 'store') : refused(asked, counted, frame)
    telling.decided(decision, asked, undefined)
    return decision
  }

  /** @throws {QuotaError} `invalid_cost` */
  checkSettle(actual: number | undefined): void {
    if (actual !== undefined) checkTokens(actual, 'commit', 0)
  }

  settleRequest(as: SettleHoldRequest['as'], tokens: number | undefined, quotas: Quotas): SettleHoldRequest {
    const { periods, live } = this.#parts
    const { overrun, maxOverrun } = live.compiled.operations.get(this.asked.operation)!
    const actual = tokens === undefined ? undefined : [tokens]
    return { ...this.#ref, as, actual, overrun, maxOverrun: [maxOverrun], quotas, periods: periods.of(quotas) }
  }

  /** @throws {QuotaError} `commit_above_reservation`, `reservation_expired`, `reservation_cancelled` */
  settled({ as, actual, quotas, periods }: SettleHoldRequest, reply: SettleHoldReply): CommitResult {
    const { outcome, added, now, states } = reply
    const [charged, uncharged, reserved] = [reply.charged[0]!, reply.uncharged[0]!, reply.reserved[0]!]
    // A cancel of what is gone has nothing to give back.
    if (as === 'cancelled') return NOTHING
    if (outcome === 'above') throw commitAbove(actual![0]!, reserved, 'the operation has no `overrun`')
    if (outcome === 'cancelled') {
      throw new QuotaError('reservation_cancelled', `commit: this hold of "${this.asked.operation}" was cancelled`)
    }
    if (outcome !== 'settled') throw this.#gone('expired')
    // A repeat is answered like the commit that settled, which has reported it all.
    if (added === undefined) return { charged, uncharged }
    const { telling, frames, live } = this.#parts
    const { subject, operation, category } = this.asked
    const frame = frames[category]!
    if (charged + uncharged > reserved) {
      telling.overrun({ subject, operation, category: frame.category, charged, uncharged, reserved })
    }
    if (added.some((amount) => amount > 0) && states.length > 0) {
      const counted: Counted = { now, states, quotas, periods, settingsVersion: live.compiled.settings.version }
      telling.added(admitted({ ...this.asked, costs: [...added, 0] }, counted, frame, 'store'))
    }
    return { charged, uncharged }
  }

  #gone(outcome: HoldReply['outcome']): QuotaError {
    const { operation } = this.asked
    if (outcome === 'settled') {
      return new QuotaError('reservation_expired', `this hold of "${operation}" was committed or cancelled already`)
    }
    const message = `this hold of "${operation}" has ended, and its tokens went back: extend it while the work lasts`
    return new QuotaError('reservation_expired', message)
  }
}

const NOTHING: CommitResult = { charged: 0, uncharged: 0 }

/** The error of a commit above what was reserved. */
export function commitAbove(actual: number, reserved: number, why: string): QuotaError {
  const message = `commit: ${actual} tokens are more than the ${reserved} reserved, and ${why}; reserve the most the work may cost, or add()`
  return new QuotaError('commit_above_reservation', message)
}
