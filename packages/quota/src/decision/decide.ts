import type { Quotas } from '../policy/limits.ts'
import type { LayerDefinition, Limit } from '../policy/policy.ts'
import { NOT_OPEN, type WindowDefinition } from '../windows/window.ts'
import type { Violation, WindowStatus } from './decision.ts'

/**
 * The windows of one category as a store reports them: `[startedAt, used]` for every window of every applying layer
 * in the order of {@link Quotas}; `[-1, 0]` for a window that is not open.
 */
export type WindowStates = readonly number[]

/** What the numbers of a state mean: the policy's windows and layers, and the category asked for. */
export interface DecisionFrame {
  readonly windows: readonly WindowDefinition[]
  readonly layers: readonly LayerDefinition[]
  readonly category: string
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
  const { windows, layers, category } = frame
  const violations: Violation[] = []
  for (let index = 0; index < quotas.limits.length; index++) {
    const limit = quotas.limits[index]!
    const used = states[2 * index + 1]!
    if (used + cost <= limit) continue
    const { label: window, lengthMs } = windows[index % windows.length]!
    const { name: layer, scope } = layers[quotas.layers[Math.floor(index / windows.length)]!]!
    const startedAt = states[2 * index]!
    const resetAt = (startedAt === NOT_OPEN ? now : startedAt) + lengthMs
    const retryable = cost <= limit
    violations.push({ layer, scope, category, window, lengthMs, limit, used, requested: cost, resetAt, retryable })
  }
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
  return quotas.limits.map((limit, index) => {
    const { label, lengthMs } = frame.windows[index % frame.windows.length]!
    const { name, scope } = frame.layers[quotas.layers[Math.floor(index / frame.windows.length)]!]!
    const startedAt = states[2 * index]!
    const used = states[2 * index + 1]!
    const open = startedAt !== NOT_OPEN
    return {
      layer: name,
      scope,
      category: frame.category,
      window: label,
      lengthMs,
      limit: finite(limit),
      used,
      remaining: finite(Math.max(0, limit - used)),
      startedAt: open ? startedAt : null,
      resetAt: open ? startedAt + lengthMs : null,
    }
  })
}

function finite(tokens: number): Limit {
  return tokens === Number.POSITIVE_INFINITY ? 'unlimited' : tokens
}
