import { admits, type DecisionFrame, type Demand, limitStatuses, startOf, sumOf } from '../../decision/decide.ts'
import type { AdmittedDecision, Decision, RefusedDecision } from '../../decision/decision.ts'
import { admitted, Peeked, refused, refusedBlocked } from '../../decision/outcome.ts'
import { ALL } from '../../policy/cells.ts'
import type { Quotas } from '../../policy/limits.ts'
import type { HoldRecord } from '../../store/hold-port.ts'
import type { ReadReply, ReadRequest } from '../../store/quota-store.ts'
import type { Clock } from '../../time/clock.ts'
import type { HeldLimitStatus, QuotaStatus } from '../requests.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import type { TakeDemand } from './demands.ts'
import type { Fallback, FallbackAdmission } from './fallback.ts'
import type { NearLimits } from './near-limits.ts'
import type { Owed } from './owed.ts'
import type { Reports } from './reports.ts'
import type { Replied, StoreFailure } from './takes.ts'

export interface DecisionsDeps {
  readonly live: LiveSettings
  readonly frameOf: (demand: Pick<Demand, 'set'>) => DecisionFrame
  readonly reports: Reports
  readonly near: NearLimits
  readonly fallback: Fallback
  readonly clock: Clock
  readonly owed: Owed
}

/** A reply with counters, and the request with its periods. */
interface Read {
  readonly request: ReadRequest
  readonly reply: ReadReply
}

/** Makes decisions from replies of stores. It calls no store itself. */
export class Decisions {
  readonly #deps: DecisionsDeps

  constructor(deps: DecisionsDeps) {
    this.#deps = deps
  }

  /**
   * Returns the decision for a reply, and reports it to listeners. Without a reply, the failure policy decides.
   *
   * @param isFinal whether the charge can't be settled
   */
  of(demand: TakeDemand, reply: Replied, isFinal = true): Decision {
    const { frameOf, reports, near, fallback, owed } = this.#deps
    if (reply.outcome === 'failed') return this.withoutStore(demand, reply).decision
    const frame = frameOf(demand)
    const isAdmitted = reply.outcome === 'admitted'
    const decision = isAdmitted ? admitted(demand, reply, frame, 'store') : refused(demand, reply, frame)
    if (fallback.remembers) {
      fallback.seen(demand, reply)
      if (fallback.owes) owed.pay()
    }
    reports.decided(decision, demand, demand.startedAtMs)
    if (decision.allowed && isFinal) near.charged(decision, demand.costs)
    return decision
  }

  /** Returns the failure policy's admission. @throws {QuotaError} `quota_unavailable` */
  withoutStore(demand: TakeDemand, failure: StoreFailure): FallbackAdmission {
    const { fallback, owed } = this.#deps
    const admission = fallback.admit(demand, failure)
    owed.spentBy(demand)
    return admission
  }

  /** Admits a request that costs nothing, without reading counters. */
  free(demand: Demand): AdmittedDecision {
    const { clock, frameOf } = this.#deps
    return admitted(demand, { now: clock.now(), states: [] }, frameOf(demand), 'free')
  }

  /** Refuses a request of a blocked subject, without reading counters; `undefined`: it isn't blocked. */
  blocked(demand: TakeDemand): RefusedDecision | undefined {
    if (demand.quotas.blocked === undefined || !demand.hasSubjectSettings) return undefined
    const { clock, frameOf } = this.#deps
    return refusedBlocked(demand, clock.now(), frameOf(demand))
  }

  /** Like {@link blocked}, and reports the decision to listeners. */
  refuseBlocked(demand: TakeDemand): RefusedDecision | undefined {
    const decision = this.blocked(demand)
    if (decision !== undefined) this.#deps.reports.refused(decision, demand.startedAtMs)
    return decision
  }

  /** Returns the decision of a charge that the counters include. */
  charged(
    of: Pick<Demand, 'subject' | 'set' | 'operation' | 'plan' | 'numbers' | 'costs'>,
    quotas: Quotas,
    read: Read,
  ): AdmittedDecision {
    const { live, frameOf } = this.#deps
    const { periods } = read.request
    const demand = { ...of, quotas, periods, settingsVersion: live.compiled.settings.version }
    return admitted(demand, read.reply, frameOf(of), 'store')
  }

  /** Returns the decision that a request would get now. */
  peeked(read: TakeDemand, { request: { periods }, reply: { now, states } }: Read): Decision {
    const demand = read.periods === periods ? read : { ...read, periods }
    const frame = this.#deps.frameOf(demand)
    const reading = new Peeked(now, states)
    return admits(frame, demand, reading) ? admitted(demand, reading, frame, 'store') : refused(demand, reading, frame)
  }

  /**
   * Returns a subject's status.
   *
   * @param holds the subject's open holds
   */
  status(
    quotas: Quotas,
    { request: { subject, periods }, reply: { now, states } }: Read,
    holds: readonly HoldRecord[],
  ): QuotaStatus {
    const { frameOf, live } = this.#deps
    const frame = frameOf({ set: ALL })
    const statuses = limitStatuses(frame, { quotas, periods }, { now, states })
    const settingsVersion = live.compiled.settings.version
    const limits = holds.length === 0 ? statuses : withHeld(statuses, frame, holds)
    return { subject, now, settingsVersion, limits: Object.fromEntries(limits.map((limit) => [limit.name, limit])) }
  }
}

/** Adds what open holds have in these limits, in the layers of their owner. */
function withHeld(
  statuses: readonly HeldLimitStatus[],
  { shown }: DecisionFrame,
  holds: readonly HoldRecord[],
): readonly HeldLimitStatus[] {
  return statuses.map((status) => {
    const limit = shown.find(({ rule }) => rule.name === status.name)
    if (limit === undefined) return status
    const isSame = (startedAt: number): boolean => limit.kind === 'concurrency' || startedAt === status.startedAt
    const amounts = holds.map(({ charged }) => (isSame(startOf(charged, limit)) ? sumOf(charged, limit) : 0))
    const held = Math.min(
      status.used,
      amounts.reduce((sum, each) => sum + each, 0),
    )
    return held > 0 ? { ...status, held } : status
  })
}
