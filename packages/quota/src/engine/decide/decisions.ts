import { admits, type DecisionFrame, type Demand, windowStatuses } from '../../decision/decide.ts'
import type { AdmittedDecision, Decision } from '../../decision/decision.ts'
import { admitted, Peeked, refused } from '../../decision/outcome.ts'
import type { Quotas } from '../../policy/limits.ts'
import type { HoldRecord } from '../../store/hold-port.ts'
import type { ReadReply, ReadRequest, SettleRequest } from '../../store/quota-store.ts'
import type { Subject } from '../../store/schema.ts'
import type { Clock } from '../../time/clock.ts'
import type { HeldWindowStatus, QuotaStatus } from '../requests.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import type { TakeDemand } from './demands.ts'
import type { Fallback, FallbackAdmission } from './fallback.ts'
import type { Reports } from './reports.ts'
import type { Replied, StoreFailure } from './takes.ts'

export interface DecisionsDeps {
  readonly live: LiveSettings
  readonly frames: readonly DecisionFrame[]
  readonly reports: Reports
  readonly fallback: Fallback
  readonly clock: Clock
  /** Charges in the store what was spent while it did not answer. Never throws. */
  readonly post: (posting: Omit<SettleRequest, 'id'>) => void
}

/** Counters that were read, under the request's periods. */
interface Read {
  readonly request: ReadRequest
  readonly reply: ReadReply
}

/** Makes decisions from replies of stores. It calls no store, so it never waits. */
export class Decisions {
  readonly #deps: DecisionsDeps

  constructor(deps: DecisionsDeps) {
    this.#deps = deps
  }

  /** The decision for a reply, reported to listeners. Without a reply, the failure policy decides. */
  of(demand: TakeDemand, reply: Replied): Decision {
    const { frames, reports, fallback, post } = this.#deps
    if (reply.outcome === 'failed') return this.withoutStore(demand, reply).decision
    const frame = frames[demand.category]!
    const isAdmitted = reply.outcome === 'admitted'
    const decision = isAdmitted ? admitted(demand, reply, frame, 'store') : refused(demand, reply, frame)
    if (fallback.remembers) for (const posting of fallback.seen(demand, reply)) post(posting)
    reports.decided(decision, demand, demand.startedAtMs)
    return decision
  }

  /** The failure policy's admission. @throws {QuotaError} `quota_unavailable` */
  withoutStore(demand: TakeDemand, failure: StoreFailure): FallbackAdmission {
    return this.#deps.fallback.admit(demand, failure)
  }

  /** A request that costs nothing is admitted without reading a counter. */
  free(demand: Demand): AdmittedDecision {
    const { clock, frames } = this.#deps
    return admitted(demand, { now: clock.now(), states: [] }, frames[demand.category]!, 'free')
  }

  /** The decision that a request would get now. */
  peeked(read: TakeDemand, { request: { periods }, reply: { now, states } }: Read): Decision {
    const demand = read.periods === periods ? read : { ...read, periods }
    const frame = this.#deps.frames[demand.category]!
    const reading = new Peeked(now, states[0]!)
    return admits(frame, demand, reading) ? admitted(demand, reading, frame, 'store') : refused(demand, reading, frame)
  }

  /**
   * @param quotas by category
   * @param holds the subject's open holds
   */
  status(
    subject: Subject,
    quotas: readonly Quotas[],
    { request: { periods }, reply: { now, states } }: Read,
    holds: readonly HoldRecord[],
  ): QuotaStatus {
    const { frames, live } = this.#deps
    const entries = frames.map((frame, category) => {
      const windows = windowStatuses(frame, { quotas: quotas[category]!, periods }, { now, states: states[category]! })
      const ofCategory = holds.filter((hold) => hold.category === category)
      return [frame.category, ofCategory.length === 0 ? windows : withHeld(windows, frame, ofCategory)] as const
    })
    const settingsVersion = live.compiled.settings.version
    return { subject, now, settingsVersion, windows: Object.fromEntries(entries) }
  }
}

/** Adds what open holds have in exactly these windows, in the first layer that isn't shared. */
function withHeld(
  windows: readonly HeldWindowStatus[],
  { layout, layers }: DecisionFrame,
  holds: readonly HoldRecord[],
): readonly HeldWindowStatus[] {
  const own = layers.find(({ shared }) => !shared)!.name
  return windows.map((status) => {
    if (status.layer !== own) return status
    const cell = layout.cells.findIndex(({ label }) => label === status.window)
    const isSame = (startedAt: number): boolean => status.kind === 'concurrency' || startedAt === status.startedAt
    const amounts = holds.map(({ charged }) => (isSame(charged[2 * cell]!) ? charged[2 * cell + 1]! : 0))
    const held = Math.min(
      status.used,
      amounts.reduce((sum, each) => sum + each, 0),
    )
    return held > 0 ? { ...status, held } : status
  })
}
