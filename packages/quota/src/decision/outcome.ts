import type { Quotas } from '../policy/limits.ts'
import {
  bindingViolation,
  type DecisionFrame,
  retryAfterSeconds,
  violationsOf,
  type WindowStates,
  windowStatuses,
} from './decide.ts'
import type { AdmittedDecision, DecisionSource, RefusedDecision, Violation, WindowStatus } from './decision.ts'

/** What a decision is made of; its windows and violations are worked out when they are looked at. */
export interface DecisionFacts {
  readonly subject: string | Readonly<Record<string, string>>
  readonly operation: string
  readonly cost: number
  readonly now: number
  readonly settingsVersion: number
  readonly source: DecisionSource
  readonly frame: DecisionFrame
  readonly quotas: Quotas
  readonly states: WindowStates
}

/** Facts without windows: of a decision for which no counter was asked. */
export const NO_QUOTAS: Quotas = { layers: [], limits: [] }

abstract class Outcome {
  readonly subject: string | Readonly<Record<string, string>>
  readonly operation: string
  readonly cost: number
  readonly now: number
  readonly settingsVersion: number
  readonly source: DecisionSource
  protected readonly frame: DecisionFrame
  protected readonly quotas: Quotas
  protected readonly states: WindowStates

  constructor(facts: DecisionFacts) {
    this.subject = facts.subject
    this.operation = facts.operation
    this.cost = facts.cost
    this.now = facts.now
    this.settingsVersion = facts.settingsVersion
    this.source = facts.source
    this.frame = facts.frame
    this.quotas = facts.quotas
    this.states = facts.states
  }

  get category(): string {
    return this.frame.category
  }

  get windows(): readonly WindowStatus[] {
    return windowStatuses(this.frame, this.quotas, this.states)
  }

  protected plain(): object {
    const { subject, operation, category, cost, now, settingsVersion, source, windows } = this
    return { subject, operation, category, cost, now, settingsVersion, source, windows }
  }
}

export class Admitted extends Outcome implements AdmittedDecision {
  readonly allowed = true

  toJSON(): object {
    return { allowed: true, ...this.plain() }
  }
}

export class Refused extends Outcome implements RefusedDecision {
  readonly allowed = false
  readonly violations: readonly Violation[]
  readonly binding: Violation

  constructor(facts: DecisionFacts) {
    super(facts)
    this.violations = violationsOf(facts.frame, facts.quotas, facts.states, facts.cost, facts.now)
    this.binding = bindingViolation(this.violations, facts.frame.layers)
  }

  get retryable(): boolean {
    return this.binding.retryable
  }

  get resetAt(): number {
    return this.binding.resetAt
  }

  get retryAfterMs(): number {
    return Math.max(1, this.resetAt - this.now)
  }

  get retryAfterSeconds(): number {
    return retryAfterSeconds(this.resetAt, this.now)
  }

  toJSON(): object {
    const { violations, binding, retryable, resetAt, retryAfterMs, retryAfterSeconds } = this
    return {
      allowed: false,
      ...this.plain(),
      violations,
      binding,
      retryable,
      resetAt,
      retryAfterMs,
      retryAfterSeconds,
    }
  }
}
