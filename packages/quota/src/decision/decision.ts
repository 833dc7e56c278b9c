import type { Limit } from '../policy/policy.ts'
import type { Counting, LabelIn, LayerIn } from '../policy/units.ts'
import type { KindName } from '../windows/kinds.ts'

/** The kind of a limit, as decisions name it. */
export type LimitKind = KindName

/** One limit: what it allows, what is used, and when it ends. */
export interface WindowStatus<C extends Counting = Counting> {
  /** The layer's name in the policy, for example `personal`. */
  readonly layer: LayerIn<C['names']>
  /** The layer as people read it, for example `Personal`. */
  readonly scope: string
  readonly category: C['names']['category']
  /** The limit's label, for example `1h`. */
  readonly window: LabelIn<C['names']>
  readonly kind: LimitKind
  /** The unit that it counts. Present if the policy names its units. */
  readonly unit?: C['unit'] | 'slots'
  /** How long the window lasts, in milliseconds; for a calendar window, its current period. `null` for concurrency. */
  readonly lengthMs: number | null
  /**
   * The effective limit in tokens or the named unit; for concurrency in slots. A bucket refills by this amount in each
   * {@link lengthMs}.
   */
  readonly limit: Limit
  /** The most tokens that a bucket can hold. Present for buckets. */
  readonly burst?: Limit
  /**
   * Tokens used in the window, 0 if it isn't open; for concurrency the slots taken. Tokens that a bucket has refilled
   * are not used. May exceed a limit that was lowered meanwhile.
   */
  readonly used: number
  /** Tokens or slots left, never negative; for a bucket, left of its burst. */
  readonly remaining: Limit
  /**
   * When the window opened, with its first admitted request, epoch milliseconds; for a calendar window the start of the
   * period. `null` if it isn't open, and for concurrency. For a bucket, the instant from which it refills.
   */
  readonly startedAt: number | null
  /**
   * When the window ends, epoch milliseconds; `null` if it isn't open (calendar windows always end), and for
   * concurrency. For a bucket, when it is full again.
   */
  readonly resetAt: number | null
  /** `false`: the limit is shadowed, so it is charged but refuses no request. */
  readonly enforced: boolean
}

/** A window of a decision that read no counter: only its limit is known. */
export interface UncountedWindow<C extends Counting = Counting>
  extends Omit<WindowStatus<C>, 'used' | 'remaining' | 'startedAt' | 'resetAt'> {
  readonly used: null
  readonly remaining: null
  readonly startedAt: null
  readonly resetAt: null
}

/** One window that refuses a request, and why. */
export interface Violation<C extends Counting = Counting> {
  readonly layer: LayerIn<C['names']>
  readonly scope: string
  readonly category: C['names']['category']
  readonly window: LabelIn<C['names']>
  readonly kind: LimitKind
  /** See {@link WindowStatus}. */
  readonly unit?: C['unit'] | 'slots'
  /** See {@link WindowStatus}. */
  readonly lengthMs: number | null
  /** The effective limit in tokens or the named unit; for concurrency in slots. */
  readonly limit: number
  /** See {@link WindowStatus}. */
  readonly burst?: number
  /** Tokens used in the window, 0 if it isn't open; for concurrency the slots taken. */
  readonly used: number
  /** What the refused request needed in this unit; for concurrency 1. */
  readonly requested: number
  /**
   * When the window ends, epoch milliseconds; if it isn't open, when it would end if it opened now. For a bucket, the
   * millisecond at which enough has refilled. For concurrency one second from now, since it is unknown when a slot will
   * be free.
   */
  readonly resetAt: number
  /** `false`: the limit itself is below the cost, so waiting won't help. */
  readonly retryable: boolean
}

/**
 * Where the decision came from. `store`: every counter was read. `fallback`: the store did not answer, and the failure
 * policy decided. `free`: the request costs nothing, and no counter was read.
 */
export type DecisionSource = 'store' | 'fallback' | 'free'

interface DecisionBase<C extends Counting> {
  /** Who made the request: a string, or a key per layer. */
  readonly subject: C['names']['subject']
  readonly operation: string
  readonly category: C['names']['category']
  /** What the request needs, by its cost or price: tokens, or an amount of each named unit. */
  readonly cost: C['amount']
  /** When it was decided, by the store's clock, epoch milliseconds. */
  readonly now: number
  /** The version of the settings that decided it. */
  readonly settingsVersion: number
  readonly source: DecisionSource
  /**
   * Shadowed limits that would have refused the request if they were enforced, as they were before it, in the policy's
   * order. `resetAt` is when the windows end that the request was charged in. Usually empty.
   */
  readonly shadowed: readonly Violation<C>[]
  /**
   * Every limit that applies, after the decision, in the policy's order. The counts are `null` if no counter was read:
   * whenever `source` isn't `store`.
   */
  readonly windows: readonly (WindowStatus<C> | UncountedWindow<C>)[]
}

/** The request may go on. Its cost is charged in every window. */
export interface AdmittedDecision<C extends Counting = Counting> extends DecisionBase<C> {
  readonly allowed: true
  /**
   * A plain copy of everything. A decision computes rarely read members, such as `windows`, on access. `{ ...decision
   * }` and `structuredClone(decision)` lack them; copies of `decision.toJSON()` are complete.
   */
  toJSON(): Omit<AdmittedDecision<C>, 'toJSON'>
}

/** The request may not go on. Nothing was charged. */
export interface RefusedDecision<C extends Counting = Counting> extends DecisionBase<C> {
  readonly allowed: false
  readonly windows: readonly WindowStatus<C>[]
  /** Every limit that refuses, in the policy's order; at least one. */
  readonly violations: readonly Violation<C>[]
  /** The violation to report: see `bindingViolation()`. */
  readonly binding: Violation<C>
  /** `false`: some limit is below the cost, so waiting won't help. */
  readonly retryable: boolean
  /** When the binding window ends, epoch milliseconds. */
  readonly resetAt: number
  /** Milliseconds until `resetAt`, at least 1. */
  readonly retryAfterMs: number
  /** `max(1, ceil((resetAt - now) / 1000))`. */
  readonly retryAfterSeconds: number
  /** A plain copy of everything; see {@link AdmittedDecision}. */
  toJSON(): Omit<RefusedDecision<C>, 'toJSON'>
}

/** The answer to a request, over every window of every layer that applies. */
export type Decision<C extends Counting = Counting> = AdmittedDecision<C> | RefusedDecision<C>
