import type { Quotas } from '../policy/limits.ts'
import type { LayerDefinition, Limit, Policy } from '../policy/policy.ts'
import { type Lasting, PERIOD_NUMBERS, type Period, periodAt } from '../windows/kinds/kind.ts'
import { KINDS, type KindName } from '../windows/kinds.ts'
import type { Layout } from '../windows/layout.ts'
import { NOT_OPEN } from '../windows/row.ts'
import { SLOTS } from '../windows/units.ts'
import type { UncountedWindow, Violation, WindowStatus } from './decision.ts'

/**
 * The cells of one category as a store reports them: `[startedAt, used]` for each cell of each applying layer, in the
 * order of {@link Quotas}. `[-1, 0]`: the window isn't open.
 */
export type WindowStates = readonly number[]

/** How to interpret a state's numbers: the policy's limits and layers, and the category. */
export interface DecisionFrame {
  readonly policy: Policy
  readonly layout: Layout
  /** The policy's units, by name. */
  readonly units: readonly string[]
  /**
   * For each layer, the positions of its limits in a row, in the policy's order: windows, then concurrency if it is
   * limited.
   */
  readonly shownAs: readonly (readonly number[])[]
  readonly layers: readonly LayerDefinition[]
  readonly category: string
  /** The periods of calendar windows around an instant; see {@link Demand.periods}. */
  readonly periodsAt: (quotas: Quotas, instant: number) => readonly number[]
}

/** A request, and the settings that decide it. */
export interface Demand {
  readonly subject: string | Readonly<Record<string, string>>
  readonly operation: string
  /** Index of the policy's category. */
  readonly category: number
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

/** Calls `visit` for each applying limit, in the policy's order. `at` is its position among the limits and states. */
export function eachLimit(
  { layout, shownAs }: DecisionFrame,
  { layers }: Quotas,
  visit: (slot: number, cell: number, at: number) => void,
): void {
  for (let slot = 0; slot < layers.length; slot++) {
    for (const cell of shownAs[layers[slot]!]!) visit(slot, cell, layout.limitAt(slot, cell))
  }
}

/**
 * Returns when a limit's window starts and ends.
 *
 * @param startedAt when the count started, or {@link NOT_OPEN}
 * @param tokens for a bucket: how many must refill from then on
 */
export function lastingOf(
  frame: DecisionFrame,
  slot: number,
  cell: number,
  startedAt: number,
  inForce: QuotasInForce,
  now: number,
  tokens: number,
): Lasting {
  const { kind, lengthMs } = frame.layout.cells[cell]!
  const period = (): Period => periodOf(frame, slot, cell, Math.max(now, startedAt), inForce)
  const rate = inForce.quotas.rates?.[frame.layout.limitAt(slot, cell)] ?? 0
  return KINDS[kind].lasting(lengthMs, startedAt, period, tokens, rate)
}

/**
 * Returns a calendar window's period at an instant. After a clock was set back, it is the later period in which the
 * window opened. The request may have neither: another engine's clock was ahead, or this engine made no request for
 * long.
 */
function periodOf(
  { layout, periodsAt }: DecisionFrame,
  slot: number,
  cell: number,
  instant: number,
  { periods, quotas }: QuotasInForce,
): Period {
  const at = layout.periodsAt(slot) + PERIOD_NUMBERS * layout.calendars.indexOf(cell)
  return periodAt(instant, periods, at) ?? periodAt(instant, periodsAt(quotas, instant), at)!
}

/** Whether a request fits under all limits: `used + cost <= limit`. */
export function admits({ layout }: DecisionFrame, { quotas, costs }: Demand, { now, states }: Reading): boolean {
  const { limits, layers, rates } = quotas
  for (let l = 0; l < layers.length; l++) {
    for (let c = 0; c < layout.size; c++) {
      const at = layout.limitAt(l, c)
      const needed = costs[layout.units[c]!]!
      if (needed > 0 && layout.usedAt(states, at, rates, now) + needed > limits[at]!) return false
    }
  }
  return true
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
  const { layout, layers, category } = frame
  const { quotas, costs } = demand
  const violations: Violation[] = []
  eachLimit(frame, quotas, (slot, cell, at) => {
    const { kind, label } = layout.cells[cell]!
    const requested = costs[layout.units[cell]!]!
    const shadowed = quotas.shadowed?.[at]
    const most = which === 'shadowed' ? shadowed : quotas.limits[at]!
    if (most === undefined || requested === 0) return
    const after = layout.usedAt(states, at, quotas.rates, now)
    const charged = isCharged ? requested : 0
    const used = after - charged
    if (used + requested <= most) return
    // A full bucket counts as opened now.
    const [startedAt, sum] = kind === 'bucket' && after === 0 ? [now, 0] : [states[2 * at]!, states[2 * at + 1]!]
    const tokens = sum + requested - charged - most
    const { lengthMs, endsAt } = lastingOf(frame, slot, cell, startedAt, demand, now, tokens)
    const { name, scope } = layers[quotas.layers[slot]!]!
    violations.push({
      layer: name,
      scope,
      category,
      window: label,
      kind,
      ...unitMember(frame, cell),
      lengthMs,
      ...shownLimit(kind, quotas, at, most),
      used,
      requested,
      resetAt: endsAt ?? now + (lengthMs ?? UNKNOWN_END_MS),
      retryable: requested <= most,
    })
  })
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
  const windows: WindowStatus[] = []
  eachLimit(frame, inForce.quotas, (slot, cell) => {
    windows.push(windowStatus(frame, inForce, { now, states }, slot, cell))
  })
  return windows
}

/** Returns one limit as callers see it. */
export function windowStatus(
  frame: DecisionFrame,
  inForce: QuotasInForce,
  { now, states }: Reading,
  slot: number,
  cell: number,
): WindowStatus {
  const { layout, layers, category } = frame
  const { quotas } = inForce
  const at = layout.limitAt(slot, cell)
  const { kind, label } = layout.cells[cell]!
  const { name, scope } = layers[quotas.layers[slot]!]!
  const used = layout.usedAt(states, at, quotas.rates, now)
  // A full bucket equals one that never opened.
  const startedAt = kind === 'bucket' && used === 0 ? NOT_OPEN : (states[2 * at] ?? NOT_OPEN)
  const { lengthMs, endsAt } = lastingOf(frame, slot, cell, startedAt, inForce, now, states[2 * at + 1] ?? 0)
  const shadowed = quotas.shadowed?.[at]
  const most = shadowed ?? quotas.limits[at]!
  const { limit, burst } = shownLimit(kind, quotas, at, most)
  return {
    layer: name,
    scope,
    category,
    window: label,
    kind,
    ...unitMember(frame, cell),
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

/** The unit of a cell, if the policy names its units. */
function unitMember({ policy, layout, units }: DecisionFrame, cell: number): { readonly unit?: string } | undefined {
  return policy.units === undefined ? undefined : { unit: units[layout.units[cell]!] ?? SLOTS }
}

function finite(tokens: number): Limit {
  return tokens === Number.POSITIVE_INFINITY ? 'unlimited' : tokens
}
