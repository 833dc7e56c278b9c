import { type Amount, amountOf, type Subject } from '../policy/units.ts'
import { blockedBy } from './blocked.ts'
import {
  type DecisionFrame,
  type Demand,
  limitStatuses,
  type Reading,
  refusalsOf,
  reportedRefusal,
  retryAfterSeconds,
  uncountedLimits,
  type WindowStates,
} from './decide.ts'
import type {
  AdmittedDecision,
  Decision,
  DecisionLimits,
  DecisionSource,
  Refusal,
  RefusedDecision,
} from './decision.ts'
import { withEnds } from './wait.ts'

const NONE: readonly Refusal[] = []

/** Node's `util.inspect` and `console.log` call this method to show an object. */
const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom')

/** Details of a refusal, computed on first access. */
interface Computed {
  readonly refusals: readonly Refusal[]
  readonly refusedBy: Refusal
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
  readonly subject: Subject
  readonly operation: string
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
    this.cost = amountOf(frame.units, demand.costs)
    this.now = reading.now
    this.settingsVersion = demand.settingsVersion
    this.source = source
    this.#frame = frame
    this.#demand = demand
    this.#reading = reading
  }

  /** Computed on access, because most callers only read `allowed`. */
  get limits(): DecisionLimits {
    const show = this.source === 'store' ? limitStatuses : uncountedLimits
    const limits = show(this.#frame, this.#demand, this.#reading)
    return Object.fromEntries(limits.map((limit) => [limit.name, limit]))
  }

  /** Computed on access, like {@link limits}. */
  get shadowed(): readonly Refusal[] {
    if (this.#demand.quotas.shadowed === undefined || this.source !== 'store') return NONE
    const isCharged = this.allowed && !(this.#reading instanceof Peeked)
    return refusalsOf(this.#frame, this.#demand, this.#reading, 'shadowed', isCharged)
  }

  toJSON(): object {
    return Object.assign({}, this, this.refusal(), { shadowed: this.shadowed, limits: this.limits })
  }

  [INSPECT](): object {
    return this.toJSON()
  }

  /** Details of a refusal, computed once. */
  protected get computed(): Computed {
    if (this.#computed === undefined) {
      this.#computed = this.#compute()
    }
    return this.#computed
  }

  #compute(): Computed {
    const [frame, demand, reading] = [this.#frame, this.#demand, this.#reading]
    if (this.source === 'blocked') return blockedBy(frame, demand, reading.now)
    const refusals = refusalsOf(frame, demand, reading)
    const reportedOf = (of: readonly Refusal[]): Refusal => reportedRefusal(of, frame.policy.layers)
    if (demand.quotas.later === undefined) return { refusals, refusedBy: reportedOf(refusals) }
    return withEnds(frame, demand, reading, refusals, reportedOf)
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
class Refused extends Outcome {
  declare readonly allowed: false

  get refusals(): readonly Refusal[] {
    return this.computed.refusals
  }

  get refusedBy(): Refusal {
    return this.computed.refusedBy
  }

  get retryable(): boolean {
    return this.refusedBy.retryable
  }

  get resetAt(): number {
    return this.refusedBy.resetAt
  }

  get retryAfterMs(): number | null {
    return this.retryable ? Math.max(1, this.resetAt - this.now) : null
  }

  get retryAfterSeconds(): number | null {
    return this.retryable ? retryAfterSeconds(this.resetAt, this.now) : null
  }

  protected override refusal(): object {
    const { refusals, refusedBy, retryable, resetAt, retryAfterMs, retryAfterSeconds } = this
    return { refusals, refusedBy, retryable, resetAt, retryAfterMs, retryAfterSeconds }
  }
}

/** Returns a decision's frame; `undefined` if the decision was made elsewhere. */
export function frameOf(decision: object): DecisionFrame | undefined {
  return Outcome.madeOf(decision)?.frame
}

/** Returns the inputs of a decision; `undefined` if it was made elsewhere or without counters. */
export function madeOf(decision: Pick<Decision, 'source'>): Made | undefined {
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
  return new Refused(demand, reading, frame, 'store', false) as Refused & Pick<RefusedDecision, 'toJSON'>
}

/** Refuses a request of a blocked subject. */
export function refusedBlocked(demand: Demand, now: number, frame: DecisionFrame): RefusedDecision {
  const reading = { now, states: [] }
  return new Refused(demand, reading, frame, 'blocked', false) as Refused & Pick<RefusedDecision, 'toJSON'>
}
