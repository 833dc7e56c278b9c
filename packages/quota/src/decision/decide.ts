import type { Quotas } from '../policy/limits.ts'
import type { LayerDefinition, Limit } from '../policy/policy.ts'
import type { Layout } from '../windows/layout.ts'
import { NOT_OPEN } from '../windows/window.ts'
import type { UncountedWindow, Violation, WindowStatus } from './decision.ts'

/**
 * The windows of one category as a store reports them: `[startedAt, used]` for every window of every applying layer
 * in the order of {@link Quotas}; `[-1, 0]` for a window that is not open.
 */
export type WindowStates = readonly number[]

/** What the numbers of a state mean: the policy's windows and layers, and the category asked for. */
export interface DecisionFrame {
  readonly layout: Layout
  /** The windows by their places in a row, in the order in which the policy names them and people see them. */
  readonly shownAs: readonly number[]
  readonly layers: readonly LayerDefinition[]
  readonly category: string
}

/** Calls `visit` for every window that applies, in the policy's order. */
function eachWindow(
  { layout, shownAs }: DecisionFrame,
  quotas: Quotas,
  visit: (slot: number, window: number, limit: number) => void,
): void {
  for (let slot = 0; slot < quotas.layers.length; slot++) {
    for (const window of shownAs) visit(slot, window, quotas.limits[layout.limitAt(slot, window)]!)
  }
}

/** Whether a cost fits in every window of a state: `used + cost <= limit`. */
export function admits({ limits }: Quotas, states: WindowStates, cost: number): boolean {
  return limits.every((limit, index) => states[2 * index + 1]! + cost <= limit)
}

/** Every window that refuses a cost, in the policy's order; empty when the request is admitted. */
export function violationsOf(
  frame: DecisionFrame,
  quotas: Quotas,
  states: WindowStates,
  cost: number,
  now: number,
): Violation[] {
  const { layout, layers, category } = frame
  const violations: Violation[] = []
  eachWindow(frame, quotas, (slot, w, limit) => {
    const cell = layout.cellAt(slot, w)
    const used = states[cell + 1]!
    if (used + cost <= limit) return
    const { label: window, lengthMs } = layout.windows[w]!
    const { name: layer, scope } = layers[quotas.layers[slot]!]!
    const startedAt = states[cell]!
    const resetAt = (startedAt === NOT_OPEN ? now : startedAt) + lengthMs
    const retryable = cost <= limit
    violations.push({ layer, scope, category, window, lengthMs, limit, used, requested: cost, resetAt, retryable })
  })
  return violations
}

/**
 * The violation to report, so that with no other traffic the request is admitted once that window ended and refused
 * before: a window whose limit itself is below the cost before all others; else the one with the latest `resetAt`;
 * ties: the earlier layer, then the longer window.
 *
 * @param violations in the policy's order, at least one
 */
export function bindingViolation(violations: readonly Violation[], layers: readonly LayerDefinition[]): Violation {
  const rank = (violation: Violation): number => layers.findIndex(({ name }) => name === violation.layer)
  const [binding] = [...violations].sort(
    (a, b) =>
      Number(a.retryable) - Number(b.retryable) ||
      b.resetAt - a.resetAt ||
      rank(a) - rank(b) ||
      b.lengthMs - a.lengthMs,
  )
  return binding!
}

/** Whole seconds to wait for an instant: `max(1, ceil((resetAt - now) / 1000))`. */
export function retryAfterSeconds(resetAt: number, now: number): number {
  return Math.max(1, Math.ceil((resetAt - now) / 1000))
}

/** The windows of a state as callers see them, in the policy's order. */
export function windowStatuses(frame: DecisionFrame, quotas: Quotas, states: WindowStates): WindowStatus[] {
  const { layout, layers, category } = frame
  const windows: WindowStatus[] = []
  eachWindow(frame, quotas, (slot, w, limit) => {
    const { label: window, lengthMs } = layout.windows[w]!
    const { name: layer, scope } = layers[quotas.layers[slot]!]!
    const cell = layout.cellAt(slot, w)
    const used = states[cell + 1]!
    const startedAt = states[cell] === NOT_OPEN ? null : states[cell]!
    windows.push({
      layer,
      scope,
      category,
      window,
      lengthMs,
      limit: finite(limit),
      used,
      remaining: finite(Math.max(0, limit - used)),
      startedAt,
      resetAt: startedAt === null ? null : startedAt + lengthMs,
    })
  })
  return windows
}

/** The windows that apply where no counter was asked. */
export function uncountedWindows(frame: DecisionFrame, quotas: Quotas): UncountedWindow[] {
  const unasked = new Array<number>(2 * quotas.limits.length).fill(NOT_OPEN)
  const counts = { used: null, remaining: null, startedAt: null, resetAt: null }
  return windowStatuses(frame, quotas, unasked).map((window) => ({ ...window, ...counts }))
}

function finite(tokens: number): Limit {
  return tokens === Number.POSITIVE_INFINITY ? 'unlimited' : tokens
}
