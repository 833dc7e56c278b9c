import type { Demand } from '../../decision/decide.ts'
import type { AdmittedDecision, Decision, UncountedWindow, WindowStatus } from '../../decision/decision.ts'
import { categoryOf } from '../../policy/cells.ts'
import type { Policy } from '../../policy/policy.ts'
import type { Threshold } from '../../policy/settings.ts'
import { unitNames } from '../../policy/units.ts'
import { hundredths } from '../../policy/values.ts'
import type { Stopwatch } from '../../time/clock.ts'
import { MAX_USED } from '../../windows/row.ts'
import { SLOTS } from '../../windows/units.ts'
import type { DecisionTime, Events } from '../events.ts'
import type { NearLimit, QuotaOverrun } from '../requests.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import type { TakeDemand } from './demands.ts'
import type { Outages } from './outages.ts'

export interface ReportsDeps {
  readonly policy: Policy
  readonly events: Events
  readonly stopwatch: Stopwatch
  readonly live: Pick<LiveSettings, 'compiled'>
  /** When limits count as near, unless the settings say so. */
  readonly thresholds: readonly Threshold[]
  readonly outages: Outages
}

/** Reports the outcome of requests to listeners. */
export class Reports {
  readonly #policy: Policy
  readonly #events: Events
  readonly #stopwatch: Stopwatch
  readonly #live: Pick<LiveSettings, 'compiled'>
  readonly #thresholds: readonly Threshold[]
  readonly #outages: Outages

  constructor({ policy, events, stopwatch, live, thresholds, outages }: ReportsDeps) {
    this.#policy = policy
    this.#events = events
    this.#stopwatch = stopwatch
    this.#live = live
    this.#thresholds = thresholds
    this.#outages = outages
  }

  /** Reads the stopwatch when a request starts; `undefined` while no listener measures decisions. */
  start(): number | undefined {
    return this.#events.hasTimeListeners ? this.#stopwatch() : undefined
  }

  decided(decision: Decision, demand: Pick<Demand, 'set' | 'costs'>, startedAtMs: number | undefined): void {
    if (this.#outages.isOpen) this.#outages.answered()
    if (!this.#events.hasDecisionListeners) return
    this.#time(demand.set, startedAtMs, decision.allowed ? 'admitted' : 'refused', decision.allowed)
    if (decision.allowed) this.#events.emit('admitted', decision)
    else this.#events.emit('refused', decision)
    if (this.#events.hasListeners('shadowed') && decision.shadowed.length > 0) this.#events.emit('shadowed', decision)
    if (decision.allowed) this.#nearLimit(decision, demand)
  }

  overrun(overrun: QuotaOverrun): void {
    this.#events.emit('overrun', overrun)
  }

  /** Reports limits that a commit took across thresholds. @param charge the additional charge, as a decision */
  added(charge: AdmittedDecision, demand: Pick<Demand, 'costs'>): void {
    this.#nearLimit(charge, demand)
  }

  degraded({ set, startedAtMs }: TakeDemand, allowed: boolean, error: unknown): void {
    this.#time(set, startedAtMs, 'degraded', allowed)
    if (!this.#events.hasListeners('degraded')) this.#outages.failed(error, allowed)
    else this.#events.emit('degraded', { category: this.#categoryOf(set), allowed, error })
  }

  #nearLimit(decision: AdmittedDecision, demand: Pick<Demand, 'costs'>): void {
    if (!this.#events.hasListeners('nearLimit')) return
    const thresholds = this.#live.compiled.settings.thresholds ?? this.#thresholds
    for (const crossing of crossings(unitNames(this.#policy), decision, demand, thresholds))
      this.#events.emit('nearLimit', crossing)
  }

  #categoryOf(set: number): string {
    return this.#policy.categories[categoryOf(set)]!
  }

  #time(set: number, startedAtMs: number | undefined, outcome: DecisionTime['outcome'], allowed: boolean): void {
    // A listener that was added during the request isn't called.
    if (!this.#events.hasTimeListeners || startedAtMs === undefined) return
    const durationMs = this.#stopwatch() - startedAtMs
    this.#events.emit('decided', { category: this.#categoryOf(set), outcome, allowed, durationMs })
  }
}

/**
 * Returns the limits that a charge took across thresholds. The store counts all charges in one order, so exactly one
 * charge makes each crossing, across all processes. No process has to remember past reports.
 *
 * @param units of the policy
 * @param demand what was charged
 */
function crossings(
  units: readonly string[],
  decision: AdmittedDecision,
  { costs }: Pick<Demand, 'costs'>,
  thresholds: readonly Threshold[],
): NearLimit[] {
  const { subject, windows } = decision
  return windows.filter(isCounted).flatMap((window) => {
    const isSlots = window.kind === 'concurrency'
    const { unit = isSlots ? SLOTS : units[0]! } = window
    const charged = isSlots ? costs.at(-1)! : costs[units.indexOf(unit)]!
    // The count stops at this value, which is above any limit. Its value before the charge is unknown.
    if (window.used === MAX_USED) return []
    return thresholds
      .filter((threshold) => threshold.unit === undefined || threshold.unit === unit)
      .filter((threshold) => crosses(window, charged, threshold))
      .map((threshold) => ({ subject, decision, window, threshold }))
  })
}

function isCounted(window: WindowStatus | UncountedWindow): window is WindowStatus {
  return window.used !== null
}

function crosses(
  { limit: ofWindow, burst = ofWindow, used }: WindowStatus,
  charged: number,
  threshold: Threshold,
): boolean {
  const limit = burst
  if (limit === 'unlimited' || charged === 0) return false
  const isNear = (tokens: number): boolean =>
    'left' in threshold ? limit - tokens <= threshold.left : tokens * 100 >= limit * hundredths(threshold.share)!
  return isNear(used) && !isNear(used - charged)
}
