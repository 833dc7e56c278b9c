import {
  bindingViolation,
  type DecisionFrame,
  type Looked,
  type Needed,
  retryAfterSeconds,
  uncountedWindows,
  violationsOf,
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
export interface Asked extends Needed {
  readonly subject: string | Readonly<Record<string, string>>
  readonly operation: string
  /** Index into the policy's categories. */
  readonly category: number
  /** The plan that the request named. */
  readonly plan?: string | undefined
}

/** What the counters said, and under what settings. */
export interface Counted extends Looked {
  readonly settingsVersion: number
  /** Whether it was a look, after which nothing was charged. */
  readonly isLook?: boolean | undefined
}

const NONE: readonly Violation[] = []

/** The method by which Node's `util.inspect` and `console.log` show an object. */
const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom')

/** A class with nothing above it: a derived one is slower to make, and most decisions admit. */
class Outcome {
  static frameOf(decision: object): DecisionFrame | undefined {
    return #frame in decision ? decision.#frame : undefined
  }

  readonly allowed: boolean
  readonly subject: string | Readonly<Record<string, string>>
  readonly operation: string
  readonly category: string
  readonly cost: number
  readonly now: number
  readonly settingsVersion: number
  readonly source: DecisionSource
  readonly #frame: DecisionFrame
  readonly #counted: Counted
  readonly #asked: Asked

  constructor(asked: Asked, counted: Counted, frame: DecisionFrame, source: DecisionSource, allowed: boolean) {
    this.allowed = allowed
    this.subject = asked.subject
    this.operation = asked.operation
    this.category = frame.category
    this.cost = asked.costs[0]!
    this.now = counted.now
    this.settingsVersion = counted.settingsVersion
    this.source = source
    this.#frame = frame
    this.#counted = counted
    this.#asked = asked
  }

  /** Worked out when it is looked at: most decisions are asked whether they admit, and nothing more. */
  get windows(): readonly (WindowStatus | UncountedWindow)[] {
    return this.source === 'store'
      ? windowStatuses(this.#frame, this.#counted)
      : uncountedWindows(this.#frame, this.#counted)
  }

  /** As {@link windows}. */
  get shadowed(): readonly Violation[] {
    const { quotas, isLook } = this.#counted
    if (quotas.shadowed === undefined || this.source !== 'store') return NONE
    const isCharged = this.allowed && isLook !== true
    return violationsOf(this.#frame, this.#counted, this.#asked, 'shadowed', isCharged)
  }

  toJSON(): object {
    return { ...this, ...this.refusal(), shadowed: this.shadowed, windows: this.windows }
  }

  [INSPECT](): object {
    return this.toJSON()
  }

  /** What a refusal computes besides. */
  protected refusal(): object | undefined {
    return undefined
  }
}

/** What a refusal has to say, worked out when somebody looks at it: under an attack nobody does. */
class Refusal extends Outcome {
  declare readonly allowed: false
  readonly #asked: Asked
  readonly #counted: Counted
  readonly #frame: DecisionFrame
  #violations: readonly Violation[] | undefined
  #binding: Violation | undefined

  constructor(asked: Asked, counted: Counted, frame: DecisionFrame) {
    super(asked, counted, frame, 'store', false)
    this.#asked = asked
    this.#counted = counted
    this.#frame = frame
  }

  get violations(): readonly Violation[] {
    this.#violations ??= violationsOf(this.#frame, this.#counted, this.#asked)
    return this.#violations
  }

  get binding(): Violation {
    this.#binding ??= bindingViolation(this.violations, this.#frame.layers)
    return this.#binding
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

/** What the numbers of a decision mean; `undefined` for one that was made elsewhere. */
export function frameOf(decision: object): DecisionFrame | undefined {
  return Outcome.frameOf(decision)
}

export function admitted(
  asked: Asked,
  counted: Counted,
  frame: DecisionFrame,
  source: DecisionSource,
): AdmittedDecision {
  return new Outcome(asked, counted, frame, source, true) as Outcome & Pick<AdmittedDecision, 'allowed' | 'toJSON'>
}

export function refused(asked: Asked, counted: Counted, frame: DecisionFrame): RefusedDecision {
  // Every counter of a refusal was asked, so that its windows are counted ones.
  return new Refusal(asked, counted, frame) as Refusal & Pick<RefusedDecision, 'windows' | 'toJSON'>
}
