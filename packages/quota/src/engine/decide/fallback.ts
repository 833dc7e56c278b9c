import type { DecisionFrame } from '../../decision/decide.ts'
import type { AdmittedDecision } from '../../decision/decision.ts'
import { admitted } from '../../decision/outcome.ts'
import type { Policy } from '../../policy/policy.ts'
import { takesSlots } from '../../policy/units.ts'
import type { SettleRequest, TakeReply } from '../../store/quota-store.ts'
import { storeSchema } from '../../store/schema.ts'
import type { Clock } from '../../time/clock.ts'
import type { FailurePolicy } from '../options.ts'
import type { TakeDemand } from './demands.ts'
import { LocalShares, type Posting, type TakeBack } from './local-shares.ts'
import type { Reports } from './reports.ts'
import type { NoAnswer } from './takes.ts'
import { unavailable } from './unavailable.ts'

/** What the failure policy says, and how what it let a caller spend is given back. */
export interface FallbackAdmission {
  readonly decision: AdmittedDecision
  /** What has to be sent to the store to give amounts back, one a unit; nothing where they were never sent. */
  readonly giveBack: (amounts: readonly number[]) => Posting | undefined
}

export interface FallbackParts {
  readonly policy: Policy
  readonly frames: readonly DecisionFrame[]
  readonly failurePolicy: Readonly<Record<string, FailurePolicy>>
  readonly clock: Clock
  readonly reports: Reports
}

/** Decides by the failure policy while a store does not answer. */
export class Fallback {
  readonly #parts: FallbackParts
  /** Kept only where some category decides locally. */
  readonly #shares: LocalShares | undefined

  constructor(parts: FallbackParts) {
    this.#parts = parts
    const isLocal = Object.values(parts.failurePolicy).some((policy) => typeof policy === 'object')
    this.#shares = isLocal ? new LocalShares(storeSchema(parts.policy), parts.clock) : undefined
  }

  /** Whether {@link seen} wants to hear of every answer. */
  get remembers(): boolean {
    return this.#shares !== undefined
  }

  /** The store answers: remembers what it said. What was spent while it did not is to be posted to it. */
  seen(demand: TakeDemand, reply: TakeReply): readonly Omit<SettleRequest, 'id'>[] {
    if (this.#shares === undefined) return NOTHING
    this.#shares.see(demand, reply)
    return this.#shares.takePostings().map((posting) => ({ ...posting, as: 'committed' }))
  }

  /** @throws {QuotaError} `quota_unavailable` where the policy admits nothing */
  admit(demand: TakeDemand, { error, ofSettings }: NoAnswer): FallbackAdmission {
    const { policy, frames, failurePolicy, clock, reports } = this.#parts
    const what = failurePolicy[policy.categories[demand.category]!] ?? 'closed'
    const takeBack = typeof what === 'object' ? this.#spend(demand, what.local) : undefined
    const allowed = what === 'open' || takeBack !== undefined
    reports.degraded(demand, allowed, error)
    if (!allowed) throw unavailable(error, ofSettings ? 'the settings store' : 'the quota store')
    const decision = admitted(demand, { now: clock.now(), states: [] }, frames[demand.category]!, 'fallback')
    return { decision, giveBack: (amounts) => takeBack?.(amounts) }
  }

  #spend(demand: TakeDemand, { expectedProcesses }: { readonly expectedProcesses: number }): TakeBack | undefined {
    // Nobody knows how much work is under way.
    if (takesSlots(demand.costs)) return undefined
    return this.#shares?.spend(demand, expectedProcesses)
  }
}

const NOTHING: readonly Omit<SettleRequest, 'id'>[] = []
