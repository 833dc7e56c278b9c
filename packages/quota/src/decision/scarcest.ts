import { lastingOf, type Reading, windowStatus } from './decide.ts'
import type { Decision, UncountedWindow, WindowStatus } from './decision.ts'
import { type Made, madeOf } from './outcome.ts'

/** Where slots end: by no time. They come back with the work that has them. */
const SLOTS = -1

/**
 * The limit that lets the fewest more requests of a decision's cost through; of equals, the one that ends later. A limit of
 * concurrency is one only where there is no other. `undefined` where no limit was counted.
 *
 * @param more tokens that were charged since the decision, in every window; negative: that went back
 */
export function scarcestWindow(decision: Decision, more: number): WindowStatus | undefined {
  const made = madeOf(decision)
  return made === undefined ? scarcestOfCopied(decision, more) : scarcestOfCounted(made, decision.cost, more)
}

function scarcestOfCounted({ frame, demand, reading }: Made, cost: number, more: number): WindowStatus | undefined {
  const { size, width } = frame.layout
  // Some states are made whenever they are read.
  const read: Reading = { now: reading.now, states: reading.states }
  const endAt = (at: number): number => {
    const cell = at % size
    if (cell >= width) return SLOTS
    return lastingOf(frame, (at - cell) / size, cell, read.states[2 * at]!, demand, read.now).endsAt ?? 0
  }
  const at = placeOfScarcest(demand.quotas.limits, read.states, cost, more, endAt)
  return at === -1 ? undefined : windowStatus(frame, demand, read, Math.floor(at / size), at % size)
}

/** A decision that was sent as JSON has its windows alone. */
function scarcestOfCopied({ windows, cost }: Decision, more: number): WindowStatus | undefined {
  const counted = (windows as readonly (WindowStatus | UncountedWindow)[]).filter(
    (window): window is WindowStatus => window.used !== null && window.enforced,
  )
  const limits = counted.map(({ limit }) => (limit === 'unlimited' ? Number.POSITIVE_INFINITY : limit))
  const states = counted.flatMap(({ startedAt, used }) => [startedAt ?? 0, used])
  const endAt = (at: number): number => {
    const { kind, resetAt } = counted[at]!
    return kind === 'concurrency' ? SLOTS : (resetAt ?? 0)
  }
  return counted[placeOfScarcest(limits, states, cost, more, endAt)]
}

/**
 * @param limits infinite ones are unlimited, or shadowed
 * @param endAt asked of those alone that may be it
 * @returns -1: there is none
 */
function placeOfScarcest(
  limits: readonly number[],
  states: readonly number[],
  cost: number,
  more: number,
  endAt: (at: number) => number,
): number {
  let found = -1
  let slots = -1
  let fewest = Number.POSITIVE_INFINITY
  let latest = SLOTS
  // What is free now may cost something once it is known.
  const each = Math.max(1, cost)
  for (let at = 0; at < limits.length; at++) {
    const used = states[2 * at + 1]! + more
    const left = used > 0 ? limits[at]! - used : limits[at]!
    if (left === Number.POSITIVE_INFINITY) continue
    const requests = left > 0 ? Math.floor(left / each) : 0
    if (requests > fewest) continue
    const end = endAt(at)
    if (end === SLOTS) slots = at
    else if (requests < fewest || end > latest) {
      found = at
      fewest = requests
      latest = end
    }
  }
  return found === -1 ? slots : found
}
