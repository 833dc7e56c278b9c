import type { Quotas } from '../policy/limits.ts'
import type { LayerDefinition, Limit, Policy } from '../policy/policy.ts'
import type { Layout } from '../windows/layout.ts'
import { PERIOD_NUMBERS, type Period, periodAt } from '../windows/period.ts'
import { NOT_OPEN } from '../windows/window.ts'
import type { UncountedWindow, Violation, WindowStatus } from './decision.ts'

/**
 * The cells of one category as a store reports them: `[startedAt, used]` for every cell of every applying layer
 * in the order of {@link Quotas}; `[-1, 0]` for a window that is not open.
 */
export type WindowStates = readonly number[]

/** What the numbers of a state mean: the policy's limits and layers, and the category asked for. */
export interface DecisionFrame {
  readonly policy: Policy
  readonly layout: Layout
  /**
   * For each layer the limits that it has, as places in a row, in the order in which the policy names them and people see
   * them: its windows, and concurrency where that is limited.
   */
  readonly shownAs: readonly (readonly number[])[]
  readonly layers: readonly LayerDefinition[]
  readonly category: string
  /** The periods of calendar windows around an instant, as of {@link Looked.periods}. */
  readonly periodsAt: (quotas: Quotas, instant: number) => readonly number[]
}

/** What the counters said, under what quotas. */
export interface Looked {
  /** Instant by the store's clock, epoch milliseconds. */
  readonly now: number
  /** Empty where no counter was asked. */
  readonly states: WindowStates
  readonly quotas: Quotas
  /** As of the request, see `TakeRequest.periods`. */
  readonly periods?: readonly number[] | undefined
}

/** What a request needs of the counters. */
export interface Needed {
  /** One number a unit, and behind them its slots: see `TakeRequest.costs`. */
  readonly costs: readonly number[]
}

/** Calls `visit` for every limit that applies, in the policy's order; `at` is its place among the limits and states. */
function eachLimit(
  { layout, shownAs }: DecisionFrame,
  { layers }: Quotas,
  visit: (slot: number, cell: number, at: number) => void,
): void {
  for (let slot = 0; slot < layers.length; slot++) {
    for (const cell of shownAs[layers[slot]!]!) visit(slot, cell, layout.limitAt(slot, cell))
  }
}

/** How long a limit's count lasts at the moment, and when it ends; `undefined` where nobody knows. */
interface Lasting {
  readonly lengthMs: number | null
  readonly resetAt: number | undefined
}

/** @param startedAt of the limit's window; states are not asked again: some are made whenever they are looked at */
function lastingOf(frame: DecisionFrame, slot: number, cell: number, startedAt: number, looked: Looked): Lasting {
  const { kind, lengthMs } = frame.layout.cells[cell]!
  if (kind === 'rolling') return { lengthMs, resetAt: startedAt === NOT_OPEN ? undefined : startedAt + lengthMs }
  if (kind === 'concurrency') return { lengthMs: null, resetAt: undefined }
  const { start, end } = periodOf(frame, slot, cell, startedAt, looked)
  return { lengthMs: end - start, resetAt: end }
}

/**
 * The period that a calendar window is in; where a clock stepped back, the later one that it was opened in. The request
 * may have known neither: another engine's clock was ahead, or this one made no request for long.
 */
function periodOf(
  { layout, periodsAt }: DecisionFrame,
  slot: number,
  cell: number,
  startedAt: number,
  { now, periods, quotas }: Looked,
): Period {
  const at = layout.periodsAt(slot) + PERIOD_NUMBERS * layout.calendars.indexOf(cell)
  const instant = Math.max(now, startedAt)
  return periodAt(instant, periods, at) ?? periodAt(instant, periodsAt(quotas, instant), at)!
}

/** Whether a request fits under every limit of a state: `used + cost <= limit`. */
export function admits({ layout }: DecisionFrame, { quotas, states }: Looked, { costs }: Needed): boolean {
  const { limits, layers } = quotas
  for (let l = 0; l < layers.length; l++) {
    for (let c = 0; c < layout.size; c++) {
      const at = layout.limitAt(l, c)
      const needed = costs[layout.units[c]!]!
      if (needed > 0 && states[2 * at + 1]! + needed > limits[at]!) return false
    }
  }
  return true
}

/**
 * Every limit that refuses a request, in the policy's order; empty when it is admitted.
 *
 * @param which those that are enforced, or those that are shadowed and would refuse
 * @param isCharged whether the states have the request in them already
 */
export function violationsOf(
  frame: DecisionFrame,
  looked: Looked,
  needed: Needed,
  which: 'enforced' | 'shadowed' = 'enforced',
  isCharged = false,
): Violation[] {
  const { layout, layers, category } = frame
  const { now, quotas, states } = looked
  const violations: Violation[] = []
  eachLimit(frame, quotas, (slot, cell, at) => {
    const { kind, label } = layout.cells[cell]!
    const requested = needed.costs[layout.units[cell]!]!
    const shadowed = quotas.shadowed?.[at]
    const limit = which === 'shadowed' ? shadowed : quotas.limits[at]!
    if (limit === undefined || requested === 0) return
    const used = isCharged ? states[2 * at + 1]! - requested : states[2 * at + 1]!
    if (used + requested <= limit) return
    const { lengthMs, resetAt: end } = lastingOf(frame, slot, cell, states[2 * at] ?? NOT_OPEN, looked)
    const { name, scope } = layers[quotas.layers[slot]!]!
    violations.push({
      layer: name,
      scope,
      category,
      window: label,
      kind,
      lengthMs,
      limit,
      used,
      requested,
      resetAt: kind === 'concurrency' ? now + SLOT_RETRY_MS : (end ?? now + lengthMs!),
      retryable: requested <= limit,
    })
  })
  return violations
}

/** When to ask again for a slot: nobody knows when one will be free. In milliseconds. */
const SLOT_RETRY_MS = 1_000

/**
 * The violation to report, so that with no other traffic the request is admitted once that window ended and refused
 * before: a limit that is itself below the cost before all others; else windows before slots, which may be free at any
 * time; else the one with the latest `resetAt`; ties: the earlier layer, then the longer window.
 *
 * @param violations in the policy's order, at least one
 */
export function bindingViolation(violations: readonly Violation[], layers: readonly LayerDefinition[]): Violation {
  const rank = (violation: Violation): number => layers.findIndex(({ name }) => name === violation.layer)
  const order = (a: Violation, b: Violation): number =>
    Number(a.retryable) - Number(b.retryable) ||
    Number(a.kind === 'concurrency') - Number(b.kind === 'concurrency') ||
    b.resetAt - a.resetAt ||
    rank(a) - rank(b) ||
    (b.lengthMs ?? 0) - (a.lengthMs ?? 0)
  return violations.reduce((binding, next) => (order(binding, next) <= 0 ? binding : next))
}

/** Whole seconds to wait for an instant: `max(1, ceil((resetAt - now) / 1000))`. */
export function retryAfterSeconds(resetAt: number, now: number): number {
  return Math.max(1, Math.ceil((resetAt - now) / 1000))
}

/** The limits of a state as callers see them, in the policy's order. */
export function windowStatuses(frame: DecisionFrame, looked: Looked): WindowStatus[] {
  const { layout, layers, category } = frame
  const { quotas, states } = looked
  const windows: WindowStatus[] = []
  eachLimit(frame, quotas, (slot, cell, at) => {
    const { kind, label } = layout.cells[cell]!
    const { name, scope } = layers[quotas.layers[slot]!]!
    const startedAt = states[2 * at] ?? NOT_OPEN
    const { lengthMs, resetAt } = lastingOf(frame, slot, cell, startedAt, looked)
    const shadowed = quotas.shadowed?.[at]
    const limit = shadowed ?? quotas.limits[at]!
    const used = states[2 * at + 1] ?? 0
    windows.push({
      layer: name,
      scope,
      category,
      window: label,
      kind,
      lengthMs,
      limit: finite(limit),
      used,
      remaining: finite(Math.max(0, limit - used)),
      startedAt: kind === 'concurrency' || startedAt === NOT_OPEN ? null : startedAt,
      resetAt: resetAt ?? null,
      enforced: shadowed === undefined,
    })
  })
  return windows
}

/** The limits that apply where no counter was asked. */
export function uncountedWindows(frame: DecisionFrame, looked: Looked): UncountedWindow[] {
  const counts = { used: null, remaining: null, startedAt: null, resetAt: null }
  return windowStatuses(frame, { ...looked, states: [] }).map((window) => ({ ...window, ...counts }))
}

function finite(tokens: number): Limit {
  return tokens === Number.POSITIVE_INFINITY ? 'unlimited' : tokens
}
