import type { Quotas } from '../policy/limits.ts'
import type { LayerDefinition, Limit, LimitNumbers, LimitRule, Policy } from '../policy/policy.ts'
import type { Subject } from '../policy/units.ts'
import { type Lasting, type Period, periodAt } from '../windows/kinds/kind.ts'
import { KINDS, type KindName } from '../windows/kinds.ts'
import type { Layout } from '../windows/layout.ts'
import { NOT_OPEN } from '../windows/row.ts'
import type { LimitKind, LimitStatus, Refusal, UncountedLimit } from './decision.ts'

/**
 * The cells of all limits as a store reports them: `[startedAt, used]` for each, by position. `[-1, 0]`: it isn't open,
 * or the request doesn't count in it.
 */
export type WindowStates = readonly number[]

/** How to interpret a state's numbers: the policy's limits and layers, and those that an operation counts in. */
export interface DecisionFrame {
  readonly policy: Policy
  readonly layout: Layout
  /** The policy's units, by name. */
  readonly units: readonly string[]
  /** The positions of the limits, in the policy's order. */
  readonly shown: readonly number[]
  readonly layers: readonly LayerDefinition[]
  /** The limits by position. */
  readonly rules: readonly LimitRule[]
  /** The periods of calendar windows around an instant; see {@link Demand.periods}. */
  readonly periodsAt: (quotas: Quotas, instant: number) => readonly number[]
}

/** A request, and the settings that decide it. */
export interface Demand {
  readonly subject: Subject
  readonly operation: string
  /** Which limits count it: an index of the schema's `sets`. */
  readonly set: number
  /** One number per unit, then the slots: see `TakeRequest.costs`. */
  readonly costs: readonly number[]
  /** The plan in the request. */
  readonly plan?: string | undefined
  /** The numbers of limits in the request. Not named `limits`, which stores know as positions to reset. */
  readonly numbers?: LimitNumbers | undefined
  readonly quotas: Quotas
  /** See `TakeRequest.periods`. */
  readonly periods?: readonly number[] | undefined
  readonly settingsVersion: number
}

/** A reply of the counters. */
export interface Reading {
  /** The time of the reply by the store's clock, in epoch milliseconds. */
  readonly now: number
  /** Empty if no counter was read. */
  readonly states: WindowStates
}

/** The part of a demand that determines which limits apply. */
export type QuotasInForce = Pick<Demand, 'quotas' | 'periods'>

/** Returns the positions of the applying limits, in the policy's order. */
export function applying({ shown, layout, layers }: DecisionFrame, quotas: Quotas): readonly number[] {
  if (quotas.layers.length === layers.length) return shown
  return shown.filter((at) => quotas.layers.includes(layout.layerOf[at]!))
}

/**
 * Returns when a limit's window starts and ends.
 *
 * @param startedAt when the count started, or {@link NOT_OPEN}
 * @param tokens for a bucket: how many must refill from then on
 */
export function lastingOf(
  frame: DecisionFrame,
  at: number,
  startedAt: number,
  inForce: QuotasInForce,
  now: number,
  tokens: number,
): Lasting {
  const { kind, lengthMs } = frame.layout.cells[at]!
  const period = (): Period => periodOf(frame, at, Math.max(now, startedAt), inForce)
  return KINDS[kind].lasting(lengthMs, startedAt, period, tokens, inForce.quotas.rates?.[at] ?? 0)
}

/**
 * Returns a calendar window's period at an instant. After a clock was set back, it is the later period in which the
 * window opened. The request may have neither: another engine's clock was ahead, or this engine made no request for
 * long.
 */
function periodOf(
  { layout, periodsAt }: DecisionFrame,
  limit: number,
  instant: number,
  { periods, quotas }: QuotasInForce,
): Period {
  const at = layout.periodsAt(limit)
  return periodAt(instant, periods, at) ?? periodAt(instant, periodsAt(quotas, instant), at)!
}

/** Whether a request fits under all limits: `used + cost <= limit`. */
export function admits(frame: DecisionFrame, { quotas, costs }: Demand, { now, states }: Reading): boolean {
  const { layout } = frame
  const { limits, rates } = quotas
  return applying(frame, quotas).every((at) => {
    const needed = costs[layout.units[at]!]!
    return needed === 0 || layout.usedAt(states, at, rates, now) + needed <= limits[at]!
  })
}

/**
 * Returns the limits that refuse a request, in the policy's order; empty if it is admitted.
 *
 * @param which enforced limits, or shadowed ones that would refuse
 * @param isCharged whether the states already include the request
 */
export function refusalsOf(
  frame: DecisionFrame,
  demand: Demand,
  { now, states }: Reading,
  which: 'enforced' | 'shadowed' = 'enforced',
  isCharged = false,
): Refusal[] {
  const { layout } = frame
  const { quotas, costs } = demand
  const refusals: Refusal[] = []
  for (const at of applying(frame, quotas)) {
    const { kind } = layout.cells[at]!
    const requested = costs[layout.units[at]!]!
    const shadowed = quotas.shadowed?.[at]
    const most = which === 'shadowed' ? shadowed : quotas.limits[at]!
    if (most === undefined || requested === 0) continue
    const after = layout.usedAt(states, at, quotas.rates, now)
    const charged = isCharged ? requested : 0
    const used = after - charged
    if (used + requested <= most) continue
    // A full bucket counts as opened now.
    const [startedAt, sum] = kind === 'bucket' && after === 0 ? [now, 0] : [states[2 * at]!, states[2 * at + 1]!]
    const tokens = sum + requested - charged - most
    const { lengthMs, endsAt } = lastingOf(frame, at, startedAt, demand, now, tokens)
    refusals.push({
      ...namesOf(frame, at),
      lengthMs,
      ...shownLimit(kind, quotas, at, most),
      used,
      requested,
      resetAt: endsAt ?? now + (lengthMs ?? UNKNOWN_END_MS),
      retryable: requested <= most,
    })
  }
  return refusals
}

/** A limit as callers see it. @param most how much may be used at one time */
function shownLimit(kind: KindName, { rates }: Quotas, at: number, most: number): { limit: number; burst?: number } {
  if (kind !== 'bucket') return { limit: most }
  return { limit: most === Number.POSITIVE_INFINITY ? most : rates![at]!, burst: most }
}

/** The retry time for slots, in milliseconds, because it is unknown when one is freed. */
const UNKNOWN_END_MS = 1_000

/**
 * Returns the refusal to report. If there is no other traffic, the request is admitted once that window has ended.
 * Limits below the cost itself come first. Next are windows, then slots, which may be freed at any time. Among these,
 * the latest `resetAt` wins; for equal ones, the earlier layer, then the longer window.
 *
 * @param refusals in the policy's order, at least one
 */
export function reportedRefusal<R extends Refusal>(refusals: readonly R[], layers: readonly LayerDefinition[]): R {
  const rank = ({ by, shared }: R): number => layers.findIndex(({ name }) => name === (by ?? shared))
  const order = (a: R, b: R): number =>
    Number(a.retryable) - Number(b.retryable) ||
    Number(KINDS[b.kind].isWindow) - Number(KINDS[a.kind].isWindow) ||
    b.resetAt - a.resetAt ||
    rank(a) - rank(b) ||
    (b.lengthMs ?? 0) - (a.lengthMs ?? 0)
  return refusals.reduce((reported, next) => (order(reported, next) <= 0 ? reported : next))
}

/** Returns the whole seconds until an instant: `max(1, ceil((resetAt - now) / 1000))`. */
export function retryAfterSeconds(resetAt: number, now: number): number {
  return Math.max(1, Math.ceil((resetAt - now) / 1000))
}

/** Returns a state's limits as callers see them, in the policy's order. */
export function limitStatuses(frame: DecisionFrame, inForce: QuotasInForce, { now, states }: Reading): LimitStatus[] {
  return applying(frame, inForce.quotas).map((at) => limitStatus(frame, inForce, { now, states }, at))
}

/** Returns one limit as callers see it. */
export function limitStatus(
  frame: DecisionFrame,
  inForce: QuotasInForce,
  { now, states }: Reading,
  at: number,
): LimitStatus {
  const { layout } = frame
  const { quotas } = inForce
  const { kind } = layout.cells[at]!
  const used = layout.usedAt(states, at, quotas.rates, now)
  // A full bucket equals one that never opened.
  const startedAt = kind === 'bucket' && used === 0 ? NOT_OPEN : (states[2 * at] ?? NOT_OPEN)
  const { lengthMs, endsAt } = lastingOf(frame, at, startedAt, inForce, now, states[2 * at + 1] ?? 0)
  const shadowed = quotas.shadowed?.[at]
  const most = shadowed ?? quotas.limits[at]!
  const { limit, burst } = shownLimit(kind, quotas, at, most)
  return {
    ...namesOf(frame, at),
    lengthMs,
    limit: finite(limit),
    ...(burst === undefined ? undefined : { burst: finite(burst) }),
    used,
    remaining: finite(Math.max(0, most - used)),
    startedAt: !KINDS[kind].isWindow || startedAt === NOT_OPEN ? null : startedAt,
    resetAt: endsAt ?? null,
    from: quotas.from?.[at] ?? 'base',
    enforced: shadowed === undefined,
  }
}

/** Returns the applying limits without counts. */
export function uncountedLimits(frame: DecisionFrame, inForce: QuotasInForce, { now }: Reading): UncountedLimit[] {
  const counts = { used: null, remaining: null, startedAt: null, resetAt: null }
  return limitStatuses(frame, inForce, { now, states: [] }).map((limit) => ({ ...limit, ...counts }))
}

/** The members that say which limit it is. */
function namesOf({ rules, layers, layout }: DecisionFrame, at: number): LimitNames {
  const { name, title, unit, layer } = rules[at]!
  const of = layers[layer]!
  const whose = of.shared ? { shared: of.name } : { by: of.name }
  return { name, ...whose, title, kind: layout.cells[at]!.kind, unit }
}

/** See {@link LimitStatus}. */
interface LimitNames {
  readonly name: string
  readonly by?: string
  readonly shared?: string
  readonly title: string
  readonly kind: LimitKind
  readonly unit: string
}

function finite(tokens: number): Limit {
  return tokens === Number.POSITIVE_INFINITY ? 'unlimited' : tokens
}
