import { type Amount, amountOf } from '../policy/units.ts'
import {
  bindingViolation,
  type DecisionFrame,
  type Demand,
  type Reading,
  retryAfterSeconds,
  uncountedWindows,
  violationsOf,
  type WindowStates,
  windowStatuses,
} from './decide.ts'
import type {
  AdmittedDecision,
  Decision,
  DecisionSource,
  RefusedDecision,
  UncountedWindow,
  Violation,
  WindowStatus,
} from './decision.ts'
import { withEnds } from './wait.ts'

const NONE: readonly Violation[] = []

/** Node's `util.inspect` and `console.log` call this method to show an object. */
const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom')

/** Details of a refusal, computed on first access. */
interface Computed {
  readonly violations: readonly Violation[]
  readonly binding: Violation
}

/** The inputs of a decision, kept for members that are computed on access. */
export interface Made {
  readonly demand: Demand
  readonly reading: Reading
  readonly frame: DecisionFrame
}

/** It has no base class, because derived classes are slower to construct. Most decisions admit. */
class Outcome {
  static madeOf(decision: object): Made | undefined {
    if (!(#frame in decision)) return undefined
    return { demand: decision.#demand, reading: decision.#reading, frame: decision.#frame }
  }

  readonly allowed: boolean
  readonly subject: string | Readonly<Record<string, string>>
  readonly operation: string
  readonly category: string
  readonly cost: Amount
  readonly now: number
  readonly settingsVersion: number
  readonly source: DecisionSource
  readonly #frame: DecisionFrame
  readonly #demand: Demand
  readonly #reading: Reading
  #computed: Computed | undefined

  constructor(demand: Demand, reading: Reading, frame: DecisionFrame, source: DecisionSource, allowed: boolean) {
    this.allowed = allowed
    this.subject = demand.subject
    this.operation = demand.operation
    this.category = frame.category
    this.cost = amountOf(frame.units, demand.costs)
    this.now = reading.now
    this.settingsVersion = demand.settingsVersion
    this.source = source
    this.#frame = frame
    this.#demand = demand
    this.#reading = reading
  }

  /** Computed on access, because most callers only read `allowed`. */
  get windows(): readonly (WindowStatus | UncountedWindow)[] {
    const show = this.source === 'store' ? windowStatuses : uncountedWindows
    return show(this.#frame, this.#demand, this.#reading)
  }

  /** Computed on access, like {@link windows}. */
  get shadowed(): readonly Violation[] {
    if (this.#demand.quotas.shadowed === undefined || this.source !== 'store') return NONE
    const isCharged = this.allowed && !(this.#reading instanceof Peeked)
    return violationsOf(this.#frame, this.#demand, this.#reading, 'shadowed', isCharged)
  }

  toJSON(): object {
    return { ...this, ...this.refusal(), shadowed: this.shadowed, windows: this.windows }
  }

  [INSPECT](): object {
    return this.toJSON()
  }

  /** Details of a refusal, computed once. */
  protected get computed(): Computed {
    if (this.#computed === undefined) {
      const violations = violationsOf(this.#frame, this.#demand, this.#reading)
      const binding = (of: readonly Violation[]): Violation => bindingViolation(of, this.#frame.layers)
      this.#computed =
        this.#demand.quotas.later === undefined
          ? { violations, binding: binding(violations) }
          : withEnds(this.#frame, this.#demand, this.#reading, violations, binding)
    }
    return this.#computed
  }

  /** Members that only a refusal computes. */
  protected refusal(): object | undefined {
    return undefined
  }
}

/**
 * Computes its details on access, because under an attack no one reads them. Like {@link Outcome}, it has no fields of
 * its own.
 */
class Refusal extends Outcome {
  declare readonly allowed: false

  get violations(): readonly Violation[] {
    return this.computed.violations
  }

  get binding(): Violation {
    return this.computed.binding
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

  protected override refusal(): object {
    const { violations, binding, retryable, resetAt, retryAfterMs, retryAfterSeconds } = this
    return { violations, binding, retryable, resetAt, retryAfterMs, retryAfterSeconds }
  }
}

/** Returns a decision's frame; `undefined` if the decision was made elsewhere. */
export function frameOf(decision: object): DecisionFrame | undefined {
  return Outcome.madeOf(decision)?.frame
}

/** Returns the inputs of a decision; `undefined` if it was made elsewhere or without counters. */
export function madeOf(decision: Decision): Made | undefined {
  return decision.source === 'store' ? Outcome.madeOf(decision) : undefined
}

/** A reading without a charge. */
export class Peeked implements Reading {
  readonly now: number
  readonly states: WindowStates

  constructor(now: number, states: WindowStates) {
    this.now = now
    this.states = states
  }
}

export function admitted(
  demand: Demand,
  reading: Reading,
  frame: DecisionFrame,
  source: DecisionSource,
): AdmittedDecision {
  return new Outcome(demand, reading, frame, source, true) as Outcome & Pick<AdmittedDecision, 'allowed' | 'toJSON'>
}

export function refused(demand: Demand, reading: Reading, frame: DecisionFrame): RefusedDecision {
  // A refusal has read all counters, so all its windows are counted.
  return new Refusal(demand, reading, frame, 'store', false) as Refusal & Pick<RefusedDecision, 'windows' | 'toJSON'>
}
