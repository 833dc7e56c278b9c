import type { Demand } from '../../decision/decide.ts'
import type { Decision, RefusedDecision } from '../../decision/decision.ts'
import type { Stopwatch } from '../../time/clock.ts'
import type { DecisionTime, Events } from '../events.ts'
import type { QuotaOverrun } from '../requests.ts'
import type { TakeDemand } from './demands.ts'
import type { Outages } from './outages.ts'

export interface ReportsDeps {
  readonly events: Events
  readonly stopwatch: Stopwatch
  readonly outages: Outages
}

/** Reports the outcome of requests to listeners. */
export class Reports {
  readonly #events: Events
  readonly #stopwatch: Stopwatch
  readonly #outages: Outages

  constructor({ events, stopwatch, outages }: ReportsDeps) {
    this.#events = events
    this.#stopwatch = stopwatch
    this.#outages = outages
  }

  /** Reads the stopwatch when a request starts; `undefined` while no listener measures decisions. */
  start(): number | undefined {
    return this.#events.hasTimeListeners ? this.#stopwatch() : undefined
  }

  decided(decision: Decision, demand: Pick<Demand, 'operation'>, startedAtMs: number | undefined): void {
    if (this.#outages.isOpen) this.#outages.answered()
    if (!this.#events.hasDecisionListeners) return
    const { allowed } = decision
    this.#time(demand.operation, startedAtMs, { outcome: allowed ? 'admitted' : 'refused', allowed })
    if (decision.allowed) this.#events.emit('admitted', decision)
    else this.#events.emit('refused', decision)
    if (this.#events.hasListeners('shadowed') && decision.shadowed.length > 0) this.#events.emit('shadowed', decision)
  }

  /** Reports a refusal without a store. */
  refused(decision: RefusedDecision, startedAtMs: number | undefined): void {
    if (!this.#events.hasDecisionListeners) return
    this.#time(decision.operation, startedAtMs, { outcome: 'refused', allowed: false })
    this.#events.emit('refused', decision)
  }

  overrun(overrun: QuotaOverrun): void {
    this.#events.emit('overrun', overrun)
  }

  degraded({ operation, startedAtMs }: TakeDemand, allowed: boolean, error: unknown): void {
    this.#time(operation, startedAtMs, { outcome: 'degraded', allowed })
    if (!this.#events.hasListeners('degraded')) this.#outages.failed(error, allowed)
    else this.#events.emit('degraded', { operation, allowed, error })
  }

  #time(operation: string, startedAtMs: number | undefined, result: Pick<DecisionTime, 'outcome' | 'allowed'>): void {
    // A listener that was added during the request isn't called.
    if (!this.#events.hasTimeListeners || startedAtMs === undefined) return
    const durationMs = this.#stopwatch() - startedAtMs
    this.#events.emit('decided', { operation, outcome: result.outcome, allowed: result.allowed, durationMs })
  }
}
