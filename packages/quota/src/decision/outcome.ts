import type { Quotas } from '../policy/limits.ts'
import {
  bindingViolation,
  type DecisionFrame,
  retryAfterSeconds,
  uncountedWindows,
  violationsOf,
  type WindowStates,
  windowStatuses,
} from './decide.ts'
import type {
  AdmittedDecision,
  DecisionSource,
  RefusedDecision,
  UncountedWindow,
  Violation,
  WindowStatus,
} from './decision.ts'

/** What was asked. */
export interface Asked {
  readonly subject: string | Readonly<Record<string, string>>
  readonly operation: string
  /** Index into the policy's categories. */
  readonly category: number
  /** Tokens. */
  readonly cost: number
}

/** What the counters said, and under what quotas. */
export interface Counted {
  /** Instant by the store's clock, epoch milliseconds. */
  readonly now: number
  /** Empty where no counter was asked. */
  readonly states: WindowStates
  readonly quotas: Quotas
  readonly settingsVersion: number
}

/** A class with nothing above it: a derived one is slower to make, and most decisions admit. */
class Outcome {
  readonly allowed: boolean
  readonly subject: string | Readonly<Record<string, string>>
  readonly operation: string
  readonly category: string
  readonly cost: number
  readonly now: number
  readonly settingsVersion: number
  readonly source: DecisionSource
  readonly #frame: DecisionFrame
  readonly #quotas: Quotas
  readonly #states: WindowStates

  constructor(asked: Asked, counted: Counted, frame: DecisionFrame, source: DecisionSource, allowed: boolean) {
    this.allowed = allowed
    this.subject = asked.subject
    this.operation = asked.operation
    this.category = frame.category
    this.cost = asked.cost
    this.now = counted.now
    this.settingsVersion = counted.settingsVersion
    this.source = source
    this.#frame = frame
    this.#quotas = counted.quotas
    this.#states = counted.states
  }

  /** Worked out when it is looked at: most decisions are asked whether they admit, and nothing more. */
  get windows(): readonly (WindowStatus | UncountedWindow)[] {
    return this.source === 'store'
      ? windowStatuses(this.#frame, this.#quotas, this.#states)
      : uncountedWindows(this.#frame, this.#quotas)
  }

  toJSON(): object {
    return { ...this, windows: this.windows }
  }
}

class Refusal extends Outcome {
  declare readonly allowed: false
  readonly violations: readonly Violation[]
  readonly binding: Violation
  readonly retryable: boolean
  readonly resetAt: number
  readonly retryAfterMs: number
  readonly retryAfterSeconds: number

  constructor(asked: Asked, counted: Counted, frame: DecisionFrame) {
    super(asked, counted, frame, 'store', false)
    const { now, quotas, states } = counted
    this.violations = violationsOf(frame, quotas, states, asked.cost, now)
    this.binding = bindingViolation(this.violations, frame.layers)
    this.retryable = this.binding.retryable
    this.resetAt = this.binding.resetAt
    this.retryAfterMs = Math.max(1, this.resetAt - now)
    this.retryAfterSeconds = retryAfterSeconds(this.resetAt, now)
  }
}

export function admitted(
  asked: Asked,
  counted: Counted,
  frame: DecisionFrame,
  source: DecisionSource,
): AdmittedDecision {
  return new Outcome(asked, counted, frame, source, true) as Outcome & { readonly allowed: true }
}

export function refused(asked: Asked, counted: Counted, frame: DecisionFrame): RefusedDecision {
  // Every counter of a refusal was asked, so that its windows are counted ones.
  return new Refusal(asked, counted, frame) as Refusal & { readonly windows: readonly WindowStatus[] }
}
