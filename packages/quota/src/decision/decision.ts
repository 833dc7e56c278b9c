import type { LimitSource } from '../policy/limits.ts'
import type { Limit } from '../policy/policy.ts'
import type { Counting } from '../policy/units.ts'
import type { KindName } from '../windows/kinds.ts'

/** The kind of a limit, as decisions name it. */
export type LimitKind = KindName

/** Which limit it is, and whose. */
interface AnyLimit<C extends Counting> {
  /** The limit's name in the policy. */
  readonly name: C['names']['limit']
  /** Present if each subject has its own: what the key identifies, for example `user`. */
  readonly by?: C['names']['ownLayer']
  /** Present if all subjects share it: the name of the layer, for example `service`. */
  readonly shared?: C['names']['sharedLayer']
  /** The limit's name for people, else its layer's. */
  readonly title: string
  readonly kind: LimitKind
  /** The unit that it counts. */
  readonly unit: C['unit'] | 'slots'
  /** How long the window lasts, in milliseconds; for a calendar window, its current period. `null` for concurrency. */
  readonly lengthMs: number | null
}

/** One limit: what it allows, what is used, and when it ends. */
export interface LimitStatus<C extends Counting = Counting> extends AnyLimit<C> {
  /**
   * The number in force, in whole units; for concurrency in slots. Money is whole millionths. A bucket refills by this
   * amount per {@link lengthMs}.
   */
  readonly limit: Limit
  /** The most that a bucket can hold. Present for buckets. */
  readonly burst?: Limit
  /**
   * What is used, 0 if the window isn't open; for concurrency, the slots taken. What has returned to a bucket doesn't
   * count. May exceed the limit after it was lowered.
   */
  readonly used: number
  /** What remains, never negative; for a bucket, of its burst. */
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
  /** Where the number comes from: stored for the subject, sent with the request, of a plan, of mode `custom`, or the base. */
  readonly from: LimitSource
  /** `false`: the limit is shadowed, so it is charged but refuses no request. */
  readonly enforced: boolean
}

/** A limit of a decision without counters. Only its number is known. */
export interface UncountedLimit<C extends Counting = Counting>
  extends Omit<LimitStatus<C>, 'used' | 'remaining' | 'startedAt' | 'resetAt'> {
  readonly used: null
  readonly remaining: null
  readonly startedAt: null
  readonly resetAt: null
}

/** One limit that refuses a request, and why. */
export interface Refusal<C extends Counting = Counting> extends AnyLimit<C> {
  /** See {@link LimitStatus}. */
  readonly limit: number
  /** See {@link LimitStatus}. */
  readonly burst?: number
  /** What is used, 0 if the window isn't open; for concurrency the slots taken. */
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
 * failure policy decided. `free`: the request costs nothing, so no counter was read. `blocked`: the subject's settings
 * block it, so no counter was read.
 */
export type DecisionSource = 'store' | 'fallback' | 'free' | 'blocked'

/** The limits of a decision by name: those that count the operation and apply to the subject, in the policy's order. */
export type DecisionLimits<C extends Counting = Counting> = {
  readonly [name in C['names']['limit']]?: LimitStatus<C> | UncountedLimit<C>
}

interface DecisionBase<C extends Counting> {
  /** Who made the request: a string, or a key per layer. */
  readonly subject: C['names']['subject']
  readonly operation: string
  /** The request's cost: a number, or amounts by unit. */
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
  readonly shadowed: readonly Refusal<C>[]
  /** The limits after the decision. Without counters, the counts are `null`: whenever `source` isn't `store`. */
  readonly limits: DecisionLimits<C>
}

/** The request may proceed. Its cost is charged in every limit. */
export interface AdmittedDecision<C extends Counting = Counting> extends DecisionBase<C> {
  readonly allowed: true
  /**
   * Returns a complete plain copy. A decision computes rarely used members, such as `limits`, on access. `{
   * ...decision }` and `structuredClone(decision)` lack them; `decision.toJSON()` has them.
   */
  toJSON(): Omit<AdmittedDecision<C>, 'toJSON'>
}

/** The request must not proceed. Nothing was charged. */
export interface RefusedDecision<C extends Counting = Counting> extends DecisionBase<C> {
  readonly allowed: false
  /** Every limit that refuses, in the policy's order; at least one. */
  readonly refusals: readonly Refusal<C>[]
  /** The refusal to report: see `reportedRefusal()`. */
  readonly refusedBy: Refusal<C>
  /** `false`: some limit is below the cost, so waiting won't help. */
  readonly retryable: boolean
  /** When the window of {@link refusedBy} ends, epoch milliseconds. */
  readonly resetAt: number
  /** Milliseconds until `resetAt`, at least 1; `null` if waiting won't help. */
  readonly retryAfterMs: number | null
  /** `max(1, ceil((resetAt - now) / 1000))`; `null` if waiting won't help. */
  readonly retryAfterSeconds: number | null
  /** Returns a complete plain copy; see {@link AdmittedDecision}. */
  toJSON(): Omit<RefusedDecision<C>, 'toJSON'>
}

/** The result of a request, from all limits that count it. */
export type Decision<C extends Counting = Counting> = AdmittedDecision<C> | RefusedDecision<C>

/** Returns limits by name as a list, in their order. */
export function listedLimits<T extends object>(limits: Readonly<Record<string, T | undefined>>): readonly T[] {
  return Object.values(limits).filter((limit) => limit !== undefined)
}
