import type { Quotas } from '../policy/limits.ts'
import type { LayerDefinition, Limit, Policy } from '../policy/policy.ts'
import { type Lasting, type Period, periodAt } from '../windows/kinds/kind.ts'
import { KINDS, type KindName } from '../windows/kinds.ts'
import type { Layout } from '../windows/layout.ts'
import { NOT_OPEN } from '../windows/row.ts'
import { SLOTS } from '../windows/units.ts'
import type { UncountedWindow, Violation, WindowStatus } from './decision.ts'

/**
 * All limits as a store reports them: `[startedAt, used]` for each, by position. `[-1, 0]`: it isn't open, or the request
 * doesn't count in it.
 */
export type WindowStates = readonly number[]

/** How to interpret a state's numbers: the policy's limits and layers, and the category. */
export interface DecisionFrame {
  readonly policy: Policy
  readonly layout: Layout
  /** The policy's units, by name. */
  readonly units: readonly string[]
  /** The category's limits, in the policy's order: by layer, windows, then concurrency if it is limited. */
  readonly shown: readonly ShownLimit[]
  readonly layers: readonly LayerDefinition[]
  readonly category: string
  /** The periods of calendar windows around an instant; see {@link Demand.periods}. */
  readonly periodsAt: (quotas: Quotas, instant: number) => readonly number[]
}

/** A limit that callers see. */
export interface ShownLimit {
  /** Its position. */
  readonly at: number
  readonly layer: LayerDefinition
}

/** A request, and the settings that decide it. */
export interface Demand {
  readonly subject: string | Readonly<Record<string, string>>
  readonly operation: string
  /** Which limits count it: an index of the schema's `sets`. */
  readonly set: number
  /** One number per unit, then the slots: see `TakeRequest.costs`. */
  readonly costs: readonly number[]
  /** The plan in the request. */
  readonly plan?: string | undefined
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

/** Returns the limits of the category that apply, in the policy's order. */
export function applying({ shown, layout }: DecisionFrame, { layers }: Quotas): readonly ShownLimit[] {
  if (layers.length === layout.rows.length) return shown
  return shown.filter(({ at }) => layers.includes(layout.layerOf[at]!))
}

/**
 * Returns when a limit's window starts and ends.
 *
 * @param at its position
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
  return applying(frame, quotas).every(({ at }) => {
    const needed = costs[layout.units[at]!]!
    return needed === 0 || layout.usedAt(states, at, quotas.rates, now) + needed <= quotas.limits[at]!
  })
}

/**
 * Returns the limits that refuse a request, in the policy's order; empty if it is admitted.
 *
 * @param which enforced limits, or shadowed ones that would refuse
 * @param isCharged whether the states already include the request
 */
export function violationsOf(
  frame: DecisionFrame,
  demand: Demand,
  { now, states }: Reading,
  which: 'enforced' | 'shadowed' = 'enforced',
  isCharged = false,
): Violation[] {
  const { layout, category } = frame
  const { quotas, costs } = demand
  const violations: Violation[] = []
  for (const { at, layer } of applying(frame, quotas)) {
    const { kind, label } = layout.cells[at]!
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
    violations.push({
      layer: layer.name,
      scope: layer.scope,
      category,
      window: label,
      kind,
      ...unitMember(frame, at),
      lengthMs,
      ...shownLimit(kind, quotas, at, most),
      used,
      requested,
      resetAt: endsAt ?? now + (lengthMs ?? UNKNOWN_END_MS),
      retryable: requested <= most,
    })
  }
  return violations
}

/** A limit as callers see it. @param most how much may be used at one time */
function shownLimit(kind: KindName, { rates }: Quotas, at: number, most: number): { limit: number; burst?: number } {
  if (kind !== 'bucket') return { limit: most }
  return { limit: most === Number.POSITIVE_INFINITY ? most : rates![at]!, burst: most }
}

/** The retry time for slots, in milliseconds, because it is unknown when one is freed. */
const UNKNOWN_END_MS = 1_000

/**
 * Returns the violation to report. If there is no other traffic, the request is admitted once that window has ended.
 * Limits below the cost itself come first. Next are windows, then slots, which may be freed at any time. Among these,
 * the latest `resetAt` wins; for equal ones, the earlier layer, then the longer window.
 *
 * @param violations in the policy's order, at least one
 */
export function bindingViolation(violations: readonly Violation[], layers: readonly LayerDefinition[]): Violation {
  const rank = (violation: Violation): number => layers.findIndex(({ name }) => name === violation.layer)
  const order = (a: Violation, b: Violation): number =>
    Number(a.retryable) - Number(b.retryable) ||
    Number(KINDS[b.kind].isWindow) - Number(KINDS[a.kind].isWindow) ||
    b.resetAt - a.resetAt ||
    rank(a) - rank(b) ||
    (b.lengthMs ?? 0) - (a.lengthMs ?? 0)
  return violations.reduce((binding, next) => (order(binding, next) <= 0 ? binding : next))
}

/** Returns the whole seconds until an instant: `max(1, ceil((resetAt - now) / 1000))`. */
export function retryAfterSeconds(resetAt: number, now: number): number {
  return Math.max(1, Math.ceil((resetAt - now) / 1000))
}

/** Returns a state's limits as callers see them, in the policy's order. */
export function windowStatuses(frame: DecisionFrame, inForce: QuotasInForce, { now, states }: Reading): WindowStatus[] {
  return applying(frame, inForce.quotas).map((limit) => windowStatus(frame, inForce, { now, states }, limit))
}

/** Returns one limit as callers see it. */
export function windowStatus(
  frame: DecisionFrame,
  inForce: QuotasInForce,
  { now, states }: Reading,
  { at, layer }: ShownLimit,
): WindowStatus {
  const { layout, category } = frame
  const { quotas } = inForce
  const { kind, label } = layout.cells[at]!
  const used = layout.usedAt(states, at, quotas.rates, now)
  // A full bucket equals one that never opened.
  const startedAt = kind === 'bucket' && used === 0 ? NOT_OPEN : (states[2 * at] ?? NOT_OPEN)
  const { lengthMs, endsAt } = lastingOf(frame, at, startedAt, inForce, now, states[2 * at + 1] ?? 0)
  const shadowed = quotas.shadowed?.[at]
  const most = shadowed ?? quotas.limits[at]!
  const { limit, burst } = shownLimit(kind, quotas, at, most)
  return {
    layer: layer.name,
    scope: layer.scope,
    category,
    window: label,
    kind,
    ...unitMember(frame, at),
    lengthMs,
    limit: finite(limit),
    ...(burst === undefined ? undefined : { burst: finite(burst) }),
    used,
    remaining: finite(Math.max(0, most - used)),
    startedAt: !KINDS[kind].isWindow || startedAt === NOT_OPEN ? null : startedAt,
    resetAt: endsAt ?? null,
    enforced: shadowed === undefined,
  }
}

/** Returns the applying limits without counts. */
export function uncountedWindows(frame: DecisionFrame, inForce: QuotasInForce, { now }: Reading): UncountedWindow[] {
  const counts = { used: null, remaining: null, startedAt: null, resetAt: null }
  return windowStatuses(frame, inForce, { now, states: [] }).map((window) => ({ ...window, ...counts }))
}

/** The unit of a limit, if the policy names its units. */
function unitMember({ policy, layout, units }: DecisionFrame, at: number): { readonly unit?: string } | undefined {
  return policy.units === undefined ? undefined : { unit: units[layout.units[at]!] ?? SLOTS }
}

function finite(tokens: number): Limit {
  return tokens === Number.POSITIVE_INFINITY ? 'unlimited' : tokens
}
