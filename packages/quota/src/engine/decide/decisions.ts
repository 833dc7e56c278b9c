import {
  admits,
  applying,
  type DecisionFrame,
  type Demand,
  type ShownLimit,
  windowStatus,
} from '../../decision/decide.ts'
import type { AdmittedDecision, Decision } from '../../decision/decision.ts'
import { admitted, Peeked, refused } from '../../decision/outcome.ts'
import { categoryOf } from '../../policy/cells.ts'
import type { Quotas } from '../../policy/limits.ts'
import type { HoldRecord } from '../../store/hold-port.ts'
import type { ReadReply, ReadRequest, SettleRequest } from '../../store/quota-store.ts'
import type { Subject } from '../../store/schema.ts'
import type { Clock } from '../../time/clock.ts'
import type { HeldWindowStatus, QuotaStatus } from '../requests.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import type { TakeDemand } from './demands.ts'
import type { Fallback, FallbackAdmission } from './fallback.ts'
import type { NearLimits } from './near-limits.ts'
import type { Reports } from './reports.ts'
import type { Replied, StoreFailure } from './takes.ts'

export interface DecisionsDeps {
  readonly live: LiveSettings
  readonly frames: readonly DecisionFrame[]
  readonly reports: Reports
  readonly near: NearLimits
  readonly fallback: Fallback
  readonly clock: Clock
  /** Charges the store for what was spent during an outage. Never throws. */
  readonly post: (posting: Omit<SettleRequest, 'id'>) => void
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
    const { frames, reports, near, fallback, post } = this.#deps
    if (reply.outcome === 'failed') return this.withoutStore(demand, reply).decision
    const frame = frames[categoryOf(demand.set)]!
    const isAdmitted = reply.outcome === 'admitted'
    const decision = isAdmitted ? admitted(demand, reply, frame, 'store') : refused(demand, reply, frame)
    if (fallback.remembers) for (const posting of fallback.seen(demand, reply)) post(posting)
    reports.decided(decision, demand, demand.startedAtMs)
    if (decision.allowed && isFinal) near.charged(decision, demand.costs)
    return decision
  }

  /** Returns the failure policy's admission. @throws {QuotaError} `quota_unavailable` */
  withoutStore(demand: TakeDemand, failure: StoreFailure): FallbackAdmission {
    return this.#deps.fallback.admit(demand, failure)
  }

  /** Admits a request that costs nothing, without reading counters. */
  free(demand: Demand): AdmittedDecision {
    const { clock, frames } = this.#deps
    return admitted(demand, { now: clock.now(), states: [] }, frames[categoryOf(demand.set)]!, 'free')
  }

  /** Returns the decision of a charge that the counters include. */
  charged(
    of: Pick<Demand, 'subject' | 'set' | 'operation' | 'plan' | 'costs'>,
    quotas: Quotas,
    read: Read,
  ): AdmittedDecision {
    const { live, frames } = this.#deps
    const { periods } = read.request
    const demand = { ...of, quotas, periods, settingsVersion: live.compiled.settings.version }
    return admitted(demand, read.reply, frames[categoryOf(of.set)]!, 'store')
  }

  /** Returns the decision that a request would get now. */
  peeked(read: TakeDemand, { request: { periods }, reply: { now, states } }: Read): Decision {
    const demand = read.periods === periods ? read : { ...read, periods }
    const frame = this.#deps.frames[categoryOf(demand.set)]!
    const reading = new Peeked(now, states)
    return admits(frame, demand, reading) ? admitted(demand, reading, frame, 'store') : refused(demand, reading, frame)
  }

  /**
   * Returns a subject's status.
   *
   * @param holds the subject's open holds
   */
  status(
    subject: Subject,
    quotas: Quotas,
    { request: { periods }, reply: { now, states } }: Read,
    holds: readonly HoldRecord[],
  ): QuotaStatus {
    const { frames, live } = this.#deps
    const entries = frames.map((frame) => {
      const limits = applying(frame, quotas)
      const windows = limits.map((limit) => windowStatus(frame, { quotas, periods }, { now, states }, limit))
      return [frame.category, holds.length === 0 ? windows : withHeld(windows, limits, holds)] as const
    })
    const settingsVersion = live.compiled.settings.version
    return { subject, now, settingsVersion, windows: Object.fromEntries(entries) }
  }
}

/** Adds what open holds have in these windows, in the layers of their owner. @param limits of the windows */
function withHeld(
  windows: readonly HeldWindowStatus[],
  limits: readonly ShownLimit[],
  holds: readonly HoldRecord[],
): readonly HeldWindowStatus[] {
  return windows.map((status, index) => {
    const { at } = limits[index]!
    const isSame = (startedAt: number): boolean => status.kind === 'concurrency' || startedAt === status.startedAt
    const amounts = holds.map(({ charged }) => (isSame(charged[2 * at]!) ? charged[2 * at + 1]! : 0))
    const held = Math.min(
      status.used,
      amounts.reduce((sum, each) => sum + each, 0),
    )
    return held > 0 ? { ...status, held } : status
  })
}
