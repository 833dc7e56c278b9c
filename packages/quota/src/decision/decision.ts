import type { Limit } from '../policy/policy.ts'
import type { Counting, LabelIn, LayerIn } from '../policy/units.ts'
import type { KindName } from '../windows/kinds.ts'

/** The kind of a limit, as decisions name it. */
export type LimitKind = KindName

/** One limit as a caller sees it: what it allows, what is used, when it ends. */
export interface WindowStatus<C extends Counting = Counting> {
  /** The layer's name in the policy, for example `personal`. */
  readonly layer: LayerIn<C['names']>
  /** The layer as people read it, for example `Personal`. */
  readonly scope: string
  readonly category: C['names']['category']
  /** The limit's label, for example `1h`. */
  readonly window: LabelIn<C['names']>
  readonly kind: LimitKind
  /** What it counts; there where the policy names its units. */
  readonly unit?: C['unit'] | 'slots'
  /** How long the window lasts, in milliseconds; of the calendar the period that it is in. `null`: of concurrency. */
  readonly lengthMs: number | null
  /**
   * Effective limit in its unit, tokens or what the policy names; of concurrency in slots. To a bucket so many come back each
   * {@link lengthMs}.
   */
  readonly limit: Limit
  /** How many tokens a bucket can save up: its most. There of buckets. */
  readonly burst?: Limit
  /**
   * Tokens used in the window, 0 when it is not open; slots taken. Tokens that came back to a bucket are not used. May exceed a
   * limit that was lowered since.
   */
  readonly used: number
  /** Tokens or slots left, never negative: of a bucket, of its burst. */
  readonly remaining: Limit
  /**
   * Epoch milliseconds of the window's first admitted request, in the calendar the start of the period. `null` when it is
   * not open, and for concurrency. Of a bucket the instant from which tokens come back.
   */
  readonly startedAt: number | null
  /**
   * Epoch milliseconds of the window's end; `null` when it is not open (but for the calendar's), and of concurrency. Of a
   * bucket the instant at which it is full again.
   */
  readonly resetAt: number | null
  /** `false`: the limit is shadowed, it is charged and refuses nobody. */
  readonly enforced: boolean
}

/** A window of a decision for which no counter was asked: the limit is known, and nothing else. */
export interface UncountedWindow<C extends Counting = Counting>
  extends Omit<WindowStatus<C>, 'used' | 'remaining' | 'startedAt' | 'resetAt'> {
  readonly used: null
  readonly remaining: null
  readonly startedAt: null
  readonly resetAt: null
}

/** One window that refuses a request, and what it has to say about it. */
export interface Violation<C extends Counting = Counting> {
  readonly layer: LayerIn<C['names']>
  readonly scope: string
  readonly category: C['names']['category']
  readonly window: LabelIn<C['names']>
  readonly kind: LimitKind
  /** As of {@link WindowStatus}. */
  readonly unit?: C['unit'] | 'slots'
  /** As of {@link WindowStatus}. */
  readonly lengthMs: number | null
  /** Effective limit in its unit, tokens or what the policy names; of concurrency in slots. */
  readonly limit: number
  /** As of {@link WindowStatus}. */
  readonly burst?: number
  /** Tokens used in the window, 0 when it is not open; slots taken. */
  readonly used: number
  /** What of it the refused request needed; of concurrency 1. */
  readonly requested: number
  /**
   * Epoch milliseconds of the window's end; of a window not open, what it would be if it opened now. Of a bucket the
   * millisecond at which enough has come back. Of concurrency one second from now: nobody knows when a slot will be free.
   */
  readonly resetAt: number
  /** `false`: the limit itself is below the cost, so that waiting will not help. */
  readonly retryable: boolean
}

/**
 * Where a decision came from: `store`, every counter was asked; `fallback`, the store did not answer and the failure
 * policy decided; `free`, the request costs nothing and nothing was asked.
 */
export type DecisionSource = 'store' | 'fallback' | 'free'

interface DecisionBase<C extends Counting> {
  /** Who asked: one string, or one key a layer. */
  readonly subject: C['names']['subject']
  readonly operation: string
  readonly category: C['names']['category']
  /** What the request needs, also at its price: tokens, or an amount of each unit that the policy names. */
  readonly cost: C['amount']
  /** Instant of the decision by the store's clock, epoch milliseconds. */
  readonly now: number
  /** Version of the settings it was decided under. */
  readonly settingsVersion: number
  readonly source: DecisionSource
  /**
   * What shadowed limits have to say: those that would refuse the request if they were enforced, as they were before it, in
   * the policy's order; `resetAt` is when the windows end that the request was charged to. Usually empty.
   */
  readonly shadowed: readonly Violation<C>[]
  /**
   * Every limit that applies, after the decision, in the policy's order; the counts are `null` where no counter was
   * asked, which is so unless `source` is `store`.
   */
  readonly windows: readonly (WindowStatus<C> | UncountedWindow<C>)[]
}

/** The request may go on; its cost is charged in every window. */
export interface AdmittedDecision<C extends Counting = Counting> extends DecisionBase<C> {
  readonly allowed: true
  /**
   * A plain copy of everything. A decision computes what few callers read, such as `windows`, on access, so that
   * `{ ...decision }` and `structuredClone(decision)` lack it; copies of `decision.toJSON()` are complete.
   */
  toJSON(): Omit<AdmittedDecision<C>, 'toJSON'>
}

/** The request may not go on; nothing was charged anywhere. */
export interface RefusedDecision<C extends Counting = Counting> extends DecisionBase<C> {
  readonly allowed: false
  readonly windows: readonly WindowStatus<C>[]
  /** Every limit that refuses, in the policy's order; at least one. */
  readonly violations: readonly Violation<C>[]
  /** The one to report: see `bindingViolation()`. */
  readonly binding: Violation<C>
  /** `false`: some limit is below the cost, so that waiting will not help. */
  readonly retryable: boolean
  /** Epoch milliseconds at which the binding window ends. */
  readonly resetAt: number
  /** Milliseconds until then, at least 1. */
  readonly retryAfterMs: number
  /** `max(1, ceil((resetAt - now) / 1000))`. */
  readonly retryAfterSeconds: number
  /** A plain copy of everything, as of {@link AdmittedDecision}. */
  toJSON(): Omit<RefusedDecision<C>, 'toJSON'>
}

/** The one answer to a request, over every window of every layer that applies to it. */
export type Decision<C extends Counting = Counting> = AdmittedDecision<C> | RefusedDecision<C>
