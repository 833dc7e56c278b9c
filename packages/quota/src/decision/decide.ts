import type { PlacedLimit } from '../policy/cells.ts'
import type { Quotas } from '../policy/limits.ts'
import type { LayerDefinition, Limit, LimitNumbers, Policy } from '../policy/policy.ts'
import type { Subject } from '../policy/units.ts'
import { type Lasting, type Period, periodAt } from '../windows/kinds/kind.ts'
import { KINDS } from '../windows/kinds.ts'
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
  /** The limits that count, in the policy's order. */
  readonly shown: readonly PlacedLimit[]
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

/** Returns the applying limits, in the policy's order. */
export function applying({ shown, policy }: DecisionFrame, quotas: Quotas): readonly PlacedLimit[] {
  if (quotas.layers.length === policy.layers.length) return shown
  return shown.filter(({ layer }) => quotas.layers.includes(layer))
}

/** Returns when a limit's count started, or {@link NOT_OPEN}. */
export function startOf(states: WindowStates, { at }: PlacedLimit): number {
  return states[2 * at] ?? NOT_OPEN
}

/** Returns what a limit's cell counts, with what a bucket has refilled since its start. */
export function sumOf(states: WindowStates, { at }: PlacedLimit): number {
  return states[2 * at + 1] ?? 0
}

/** Returns how much a limit lets be used at one time: its number in force, or a bucket's burst. */
export function mostOf({ limits }: Quotas, { at }: PlacedLimit): number {
  return limits[at]!
}

/** Returns how much a request needs of a limit. */
export function neededOf(costs: Demand['costs'], { unit }: PlacedLimit): number {
  return costs[unit] ?? 0
}

/**
 * Returns when a limit's window starts and ends.
 *
 * @param startedAt when the count started, or {@link NOT_OPEN}
 * @param tokens for a bucket: how many must refill from then on
 */
export function lastingOf(
  frame: DecisionFrame,
  { at, kind, lengthMs }: PlacedLimit,
  startedAt: number,
  inForce: QuotasInForce,
  now: number,
  tokens: number,
): Lasting {
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
  return applying(frame, quotas).every((limit) => {
    const needed = neededOf(costs, limit)
    return needed === 0 || frame.layout.usedAt(states, limit.at, quotas.rates, now) + needed <= mostOf(quotas, limit)
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
  const { quotas, costs } = demand
  const refusals: Refusal[] = []
  for (const limit of applying(frame, quotas)) {
    const requested = neededOf(costs, limit)
    const most = which === 'shadowed' ? quotas.shadowed?.[limit.at] : mostOf(quotas, limit)
    if (most === undefined || requested === 0) continue
    const after = frame.layout.usedAt(states, limit.at, quotas.rates, now)
    const charged = isCharged ? requested : 0
    const used = after - charged
    if (used + requested <= most) continue
    // A full bucket counts as opened now.
    const [startedAt, sum]: readonly [number, number] =
      limit.kind === 'bucket' && after === 0 ? [now, 0] : [startOf(states, limit), sumOf(states, limit)]
    const tokens = sum + requested - charged - most
    const { lengthMs, endsAt } = lastingOf(frame, limit, startedAt, demand, now, tokens)
    const resetAt = endsAt ?? now + (lengthMs ?? UNKNOWN_END_MS)
    const counts = { used, requested, resetAt, retryable: requested <= most }
    refusals.push(Object.assign(namesOf(limit), { lengthMs }, shownLimit(limit, quotas, most), counts))
  }
  return refusals
}

/** A limit as callers see it. @param most how much may be used at one time */
function shownLimit({ kind, at }: PlacedLimit, { rates }: Quotas, most: number): { limit: number; burst?: number } {
  if (kind !== 'bucket') return { limit: most }
  return { limit: most === Number.POSITIVE_INFINITY ? most : (rates?.[at] ?? 0), burst: most }
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
  return applying(frame, inForce.quotas).map((limit) => limitStatus(frame, inForce, { now, states }, limit))
}

/** Returns one limit as callers see it. */
export function limitStatus(
  frame: DecisionFrame,
  inForce: QuotasInForce,
  { now, states }: Reading,
  of: PlacedLimit,
): LimitStatus {
  const { at, kind } = of
  const { quotas } = inForce
  const used = frame.layout.usedAt(states, at, quotas.rates, now)
  // A full bucket equals one that never opened.
  const startedAt = kind === 'bucket' && used === 0 ? NOT_OPEN : startOf(states, of)
  const { lengthMs, endsAt } = lastingOf(frame, of, startedAt, inForce, now, sumOf(states, of))
  const shadowed = quotas.shadowed?.[at]
  const most = shadowed ?? mostOf(quotas, of)
  const { limit, burst } = shownLimit(of, quotas, most)
  const numbers = burst === undefined ? { limit: finite(limit) } : { limit: finite(limit), burst: finite(burst) }
  return Object.assign(namesOf(of), { lengthMs }, numbers, {
    used,
    remaining: finite(Math.max(0, most - used)),
    startedAt: !KINDS[kind].isWindow || startedAt === NOT_OPEN ? null : startedAt,
    resetAt: endsAt ?? null,
    from: quotas.from?.[at] ?? 'base',
    enforced: shadowed === undefined,
  })
}

/** Returns the applying limits without counts. */
export function uncountedLimits(frame: DecisionFrame, inForce: QuotasInForce, { now }: Reading): UncountedLimit[] {
  const counts = { used: null, remaining: null, startedAt: null, resetAt: null }
  return limitStatuses(frame, inForce, { now, states: [] }).map((limit) => ({ ...limit, ...counts }))
}

/**
 * Returns the members that say which limit it is, in a new object. Add to it by `Object.assign`: in V8, each member that
 * a literal adds after a spread takes a microsecond and more.
 */
export function namesOf({ rule: { name, title, unit }, ofLayer, kind }: PlacedLimit): LimitNames {
  return ofLayer.shared
    ? { name, shared: ofLayer.name, title, kind, unit }
    : { name, by: ofLayer.name, title, kind, unit }
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
