import { admits, type DecisionFrame, type Demand, limitStatuses, startOf, sumOf } from '../../decision/decide.ts'
import type { AdmittedDecision, Decision, RefusedDecision } from '../../decision/decision.ts'
import { admitted, Peeked, refused, refusedBlocked } from '../../decision/outcome.ts'
import { ALL, placedLimits } from '../../policy/cells.ts'
import type { Quotas } from '../../policy/limits.ts'
import type { Policy } from '../../policy/policy.ts'
import { isFree } from '../../policy/units.ts'
import type { HoldRecord } from '../../store/hold-port.ts'
import type { ReadReply, ReadRequest } from '../../store/quota-store.ts'
import type { Clock } from '../../time/clock.ts'
import type { HeldLimitStatus, QuotaRequest, QuotaStatus } from '../requests.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import type { LivePeriods } from '../settings/live-subjects.ts'
import { NO_KEY, type RequestCheck } from './check.ts'
import type { Call } from './counter-calls.ts'
import type { Fallback, Refund } from './fallback.ts'
import type { NearLimits } from './near-limits.ts'
import type { Reports } from './reports.ts'
import type { Demands, Purpose, Replied, StoreFailure, TakeDemand } from './takes.ts'

interface DecisionsDeps {
  readonly policy: Policy
  readonly periods: LivePeriods
  readonly check: RequestCheck
  readonly demands: Demands
  readonly live: LiveSettings
  readonly reports: Reports
  readonly near: NearLimits
  readonly fallback: Fallback
  readonly clock: Clock
}

/** A read of counters, and the request with its periods. */
type Read = Call<ReadRequest, ReadReply>

/** Makes decisions from replies of stores. It calls no store itself. */
export class Decisions {
  /** Makes a decision of each request, and charges it. */
  readonly consumption: Purpose<QuotaRequest, Decision>
  /** Returns what the decisions of a demand have in common with all that the same limits count. */
  readonly frameOf: (demand: Pick<Demand, 'set'>) => DecisionFrame
  readonly #deps: DecisionsDeps

  constructor(deps: DecisionsDeps) {
    this.#deps = deps
    this.consumption = this.#consumption()
    const frames = framesBySet(deps.policy, deps.periods)
    this.frameOf = ({ set }) => frames[set] as DecisionFrame
  }

  #consumption(): Purpose<QuotaRequest, Decision> {
    const { check, demands, live, reports } = this.#deps
    return {
      demand(request) {
        const operation = check.operation(request, live.compiled)
        check.consumable(operation, request)
        return demands.of(request, operation, NO_KEY, reports.start())
      },
      free: (demand) =>
        this.refuseBlocked(demand) ?? (isFree(demand.price) && isKnown(demand) ? this.free(demand) : undefined),
      of: (demand, reply) =>
        reply.outcome === 'failed' && live.loaded && isFree(demand.price) ? this.free(demand) : this.of(demand, reply),
    }
  }

  /**
   * Returns the decision for a reply, and reports it to listeners. Without a reply, the failure policy decides.
   *
   * @param isFinal whether the charge can't be settled
   */
  of(demand: TakeDemand, reply: Replied, isFinal = true): Decision {
    const { reports, near, fallback } = this.#deps
    if (reply.outcome === 'failed') return this.withoutStore(demand, reply).decision
    const frame = this.frameOf(demand)
    const isAdmitted = reply.outcome === 'admitted'
    const decision = isAdmitted ? admitted(demand, reply, frame, 'store') : refused(demand, reply, frame)
    if (fallback.remembers) fallback.answered(demand, reply)
    reports.decided(decision, demand, demand.startedAtMs)
    if (decision.allowed && isFinal && reports.events.hasDecisionListeners) near.charged(decision, demand.costs)
    return decision
  }

  /**
   * Returns the failure policy's admission, and how to refund it. @throws {QuotaError} `quota_unavailable`
   */
  withoutStore(
    demand: TakeDemand,
    failure: StoreFailure,
  ): { readonly decision: AdmittedDecision; readonly refund: Refund | undefined } {
    const { fallback, clock } = this.#deps
    const refund = fallback.admit(demand, failure)
    return { decision: admitted(demand, { now: clock.now(), states: [] }, this.frameOf(demand), 'fallback'), refund }
  }

  /** Admits a request that costs nothing, without reading counters. */
  free(demand: Demand): AdmittedDecision {
    return admitted(demand, { now: this.#deps.clock.now(), states: [] }, this.frameOf(demand), 'free')
  }

  /** Refuses a request of a blocked subject, without reading counters; `undefined`: it isn't blocked. */
  blocked(demand: TakeDemand): RefusedDecision | undefined {
    if (demand.quotas.blocked === undefined) return undefined
    return refusedBlocked(demand, this.#deps.clock.now(), this.frameOf(demand))
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
    const { periods } = read.request
    const demand = { ...of, quotas, periods, settingsVersion: this.#deps.live.compiled.settings.version }
    return admitted(demand, read.reply, this.frameOf(of), 'store')
  }

  /** Returns the decision that a request would get now. */
  peeked(read: TakeDemand, { request: { periods }, reply: { now, states } }: Read): Decision {
    const demand = read.periods === periods ? read : { ...read, periods }
    const frame = this.frameOf(demand)
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
    const frame = this.frameOf({ set: ALL })
    const statuses = limitStatuses(frame, { quotas, periods }, { now, states })
    const settingsVersion = this.#deps.live.compiled.settings.version
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

/** Whether it is known if the subject is blocked, or can't be known. */
export function isKnown({ hasSubjectSettings, settingsError }: TakeDemand): boolean {
  return hasSubjectSettings || settingsError !== undefined
}

/** What decisions have in common if the same limits count them. */
function framesBySet(policy: Policy, periods: LivePeriods): readonly DecisionFrame[] {
  const { schema, layout, shown } = placedLimits(policy)
  return schema.sets.map((set) => ({
    policy,
    layout,
    units: schema.units,
    periodsAt: (quotas, instant) => periods.at(quotas, instant),
    shown: shown.filter(({ at }) => set.includes(at)),
  }))
}
