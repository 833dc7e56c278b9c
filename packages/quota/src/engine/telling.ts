import type { AdmittedDecision, Decision } from '../decision/decision.ts'
import type { Asked } from '../decision/outcome.ts'
import type { Policy } from '../policy/policy.ts'
import type { Stopwatch } from '../time/clock.ts'
import type { DecisionTime, Events } from './events.ts'
import { NearLimitWatch } from './near-limit.ts'

/** Tells those who listen what came of a request. */
export class Telling {
  readonly #policy: Policy
  readonly #events: Events
  readonly #stopwatch: Stopwatch
  readonly #nearLimit: NearLimitWatch

  constructor(policy: Policy, events: Events, stopwatch: Stopwatch) {
    this.#policy = policy
    this.#events = events
    this.#stopwatch = stopwatch
    this.#nearLimit = new NearLimitWatch(policy.layers)
  }

  /** When a request began, by the stopwatch; `undefined` while nobody wants to know how long decisions take. */
  start(): number | undefined {
    return this.#events.hearsTimes ? this.#stopwatch() : undefined
  }

  decided(decision: Decision, { category }: Asked, startedAtMs: number | undefined): void {
    if (!this.#events.hearsDecisions) return
    this.#time(category, startedAtMs, decision.allowed ? 'admitted' : 'refused')
    if (!decision.allowed) {
      this.#events.tell('refused', decision)
      return
    }
    this.#events.tell('admitted', decision)
    if (this.#events.hears('nearLimit')) this.#nearLimitOf(decision)
  }

  degraded({ category }: Asked, startedAtMs: number | undefined, allowed: boolean, error: unknown): void {
    this.#time(category, startedAtMs, 'degraded')
    this.#events.tell('degraded', { category: this.#policy.categories[category]!, allowed, error })
  }

  #nearLimitOf(decision: AdmittedDecision): void {
    for (const crossing of this.#nearLimit.crossings(decision)) this.#events.tell('nearLimit', crossing)
  }

  #time(category: number, startedAtMs: number | undefined, outcome: DecisionTime['outcome']): void {
    // Whoever began to listen while a request was under way does not hear of it.
    if (!this.#events.hearsTimes || startedAtMs === undefined) return
    const durationMs = this.#stopwatch() - startedAtMs
    this.#events.tell('decided', { category: this.#policy.categories[category]!, outcome, durationMs })
  }
}
