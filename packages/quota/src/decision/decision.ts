import type { Limit } from '../policy/policy.ts'
import type { Counting, LabelIn, LayerIn } from '../policy/units.ts'
import type { KindName } from '../windows/kinds.ts'

/** The kind of a limit, as decisions name it. */
export type LimitKind = KindName

/** One limit: what it allows, what is used, and when it ends. */
export interface WindowStatus<C extends Counting = Counting> {
  /** The layer's name in the policy, for example `personal`. */
  readonly layer: LayerIn<C['names']>
  /** The layer's name for people, for example `Personal`. */
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
   * The effective limit in tokens or the named unit; for concurrency in slots. A bucket refills by this amount per
   * {@link lengthMs}.
   */
  readonly limit: Limit
  /** The most tokens that a bucket can hold. Present for buckets. */
  readonly burst?: Limit
  /**
   * Tokens used in the window, 0 if it isn't open; for concurrency, the slots taken. Tokens that have returned to a
   * bucket don't count. May exceed the limit after it was lowered.
   */
  readonly used: number
  /** Remaining tokens or slots, never negative; for a bucket, what remains of its burst. */
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

/** A window of a decision without counters. Only its limit is known. */
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
  /** How much the refused request needed in this unit; for concurrency 1. */
  readonly requested: number
  /**
   * When the window ends, in epoch milliseconds. If it isn't open, when it would end if it opened now. For a bucket,
   * when enough has refilled. For concurrency, one second from now, because it is unknown when a slot is freed.
   */
  readonly resetAt: number
  /** `false`: the limit itself is below the cost, so waiting won't help. */
  readonly retryable: boolean
}

/**
 * Where the decision comes from. `store`: all counters were read. `fallback`: the store was unavailable, and the
 * failure policy decided. `free`: the request costs nothing, so no counter was read.
 */
export type DecisionSource = 'store' | 'fallback' | 'free'

interface DecisionBase<C extends Counting> {
  /** Who made the request: a string, or a key per layer. */
  readonly subject: C['names']['subject']
  readonly operation: string
  readonly category: C['names']['category']
  /** The request's cost: tokens, or amounts by unit. */
  readonly cost: C['amount']
  /** When it was decided, in epoch milliseconds of the store's clock. */
  readonly now: number
  /** The version of the settings that decided it. */
  readonly settingsVersion: number
  readonly source: DecisionSource
  /**
   * Shadowed limits that would have refused the request, in the policy's order, with their counts before it. `resetAt`
   * is the end of the windows that were charged. Usually empty.
   */
  readonly shadowed: readonly Violation<C>[]
  /**
   * All applying limits after the decision, in the policy's order. Without counters, the counts are `null`: whenever
   * `source` isn't `store`.
   */
  readonly windows: readonly (WindowStatus<C> | UncountedWindow<C>)[]
}

/** The request may proceed. Its cost is charged in every window. */
export interface AdmittedDecision<C extends Counting = Counting> extends DecisionBase<C> {
  readonly allowed: true
  /**
   * Returns a complete plain copy. A decision computes rarely used members, such as `windows`, on access. `{
   * ...decision }` and `structuredClone(decision)` lack them; `decision.toJSON()` has them.
   */
  toJSON(): Omit<AdmittedDecision<C>, 'toJSON'>
}

/** The request must not proceed. Nothing was charged. */
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
  /** Returns a complete plain copy; see {@link AdmittedDecision}. */
  toJSON(): Omit<RefusedDecision<C>, 'toJSON'>
}

/** The result of a request, from all windows of all applying layers. */
export type Decision<C extends Counting = Counting> = AdmittedDecision<C> | RefusedDecision<C>
