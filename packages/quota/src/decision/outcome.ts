import { placedLimits } from '../policy/cells.ts'
import { type Amount, amountOf, type Subject } from '../policy/units.ts'
import {
  applying,
  type DecisionFrame,
  type Demand,
  lastingOf,
  limitStatus,
  limitStatuses,
  mostOf,
  namesOf,
  neededOf,
  type Reading,
  refusalsOf,
  reportedRefusal,
  retryAfterSeconds,
  startOf,
  sumOf,
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

/**
 * Returns the refusals of a blocked subject: the limits of the layers that block it, those that count the operation
 * first, with a limit of 0. They end with the block.
 */
function blockedBy(
  frame: DecisionFrame,
  demand: Demand,
  now: number,
): { readonly refusals: readonly Refusal[]; readonly refusedBy: Refusal } {
  const blocked = demand.quotas.blocked ?? []
  const { shown: all } = placedLimits(frame.policy)
  const ofLayers = [frame.shown, all].map((limits) => limits.filter(({ layer }) => blocked.includes(layer)))
  const endsAt = endOf(demand)
  const end = { resetAt: endsAt ?? now + 1_000, retryable: endsAt !== undefined }
  const refusals = (ofLayers.find((limits) => limits.length > 0) ?? all).map((limit): Refusal => {
    const { lengthMs } = limitStatus(frame, demand, { now, states: [] }, limit)
    const counts = { lengthMs, limit: 0, used: 0, requested: neededOf(demand.costs, limit) }
    return Object.assign(namesOf(limit), counts, end)
  })
  return { refusals, refusedBy: refusals[0]! }
}

/** Returns when the subject is no longer blocked; `undefined`: its block has no end. */
function endOf({ quotas }: Demand): number | undefined {
  for (let { later } = quotas; later !== undefined; { later } = later.quotas) {
    if (later.quotas.blocked === undefined) return later.from
  }
  return undefined
}

/** The limits that apply from an instant on. */
interface Phase {
  readonly from: number
  readonly demand: Demand
}

/** The limits now, and after each end of a number or a plan of the subject, in order. */
function phasesOf(demand: Demand, now: number): readonly [Phase, ...Phase[]] {
  const phases: [Phase, ...Phase[]] = [{ from: now, demand }]
  for (let { later } = demand.quotas; later !== undefined; { later } = later.quotas) {
    phases.push({ from: later.from, demand: { ...demand, quotas: later.quotas } })
  }
  return phases
}

/** One limit of a request that time can end: when it refuses, and until when. */
interface Count {
  /** The limit's name. */
  readonly name: string
  readonly isMet: (demand: Demand, instant: number) => boolean
  /** When its count ends under these limits, or when a bucket has refilled enough. */
  readonly endsAt: (demand: Demand) => number | undefined
}

function countsOf(frame: DecisionFrame, demand: Demand, { now, states }: Reading): readonly Count[] {
  const counts: Count[] = []
  for (const limit of applying(frame, demand.quotas)) {
    const requested = neededOf(demand.costs, limit)
    if (requested === 0 || limit.kind === 'concurrency') continue
    const [startedAt, sum] = [startOf(states, limit), sumOf(states, limit)]
    const endsAt = (of: Demand): number | undefined =>
      lastingOf(frame, limit, startedAt, of, now, sum + requested - mostOf(of.quotas, limit)).endsAt
    const isMet = (of: Demand, instant: number): boolean => {
      const most = mostOf(of.quotas, limit)
      if (limit.kind === 'bucket') return requested <= most && instant >= (endsAt(of) ?? now)
      return (instant >= (endsAt(of) ?? now) ? 0 : sum) + requested <= most
    }
    counts.push({ name: limit.rule.name, isMet, endsAt })
  }
  return counts
}

/**
 * Returns a decision's refusals with true waits, for a subject whose number or plan ends: when each limit admits the
 * request, with no other traffic.
 *
 * @param refusals in the policy's order
 * @param reportedOf chooses the refusal to report
 */
function withEnds(
  frame: DecisionFrame,
  demand: Demand,
  reading: Reading,
  refusals: readonly Refusal[],
  reportedOf: (refusals: readonly Refusal[]) => Refusal,
): { readonly refusals: readonly Refusal[]; readonly refusedBy: Refusal } {
  const phases = phasesOf(demand, reading.now)
  const counts = countsOf(frame, demand, reading)
  const phaseAt = (instant: number): Phase => phases.findLast(({ from }) => from <= instant) ?? phases[0]
  const instants = phases
    .flatMap(({ from, demand: of }) => [from, ...counts.map((count) => count.endsAt(of) ?? from)])
    .filter((instant) => instant > reading.now)
    .sort((a, b) => a - b)
  const firstFor = (of: readonly Count[]): number | undefined =>
    instants.find((instant) => of.every((count) => count.isMet(phaseAt(instant).demand, instant)))
  const waiting = refusals.map((refusal): Refusal => {
    const count = counts.find(({ name }) => name === refusal.name)
    if (count === undefined) return refusal
    const resetAt = firstFor([count])
    return { ...refusal, retryable: resetAt !== undefined, resetAt: resetAt ?? refusal.resetAt }
  })
  const reported = reportedOf(waiting)
  if (reported.kind === 'concurrency') return { refusals: waiting, refusedBy: reported }
  const resetAt = firstFor(counts)
  return {
    refusals: waiting,
    refusedBy: { ...reported, retryable: resetAt !== undefined, resetAt: resetAt ?? reported.resetAt },
  }
}
