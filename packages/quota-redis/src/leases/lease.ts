import type { Clock } from '@scoregw/quota'
import { addTo, minus, takeFrom, type UnitAmounts } from './amounts.ts'
import { areSameLimits, type LeaseLimits } from './shared-answer.ts'

// As they are now: a test may replace them later, and a server goes on.
const steadyMs = performance.now.bind(performance)

/** The longest time that a lease is used, in milliseconds. Lowered limits take effect within this time. */
export const MAX_LEASE_MS = 2_000
/** A lease is not used this close to its end, in milliseconds. */
const MARGIN_MS = 50

/** One moment on two clocks: one that never steps, and one that continues while the machine sleeps. */
export interface Moment {
  readonly steadyMs: number
  readonly wallMs: number
}

/** @param testClock replaces the wall clock in tests */
export function momentBy(testClock: Clock | undefined): Moment {
  return { steadyMs: steadyMs(), wallMs: testClock?.now() ?? Date.now() }
}

export function elapsedMs(from: Moment, to: Moment): number {
  return Math.max(to.steadyMs - from.steadyMs, to.wallMs - from.wallMs)
}

/** The last reply of the shared layers. */
export interface Seen {
  readonly now: number
  readonly at: Moment
  /** `[startedAt, used]` for each window, all leases included. */
  readonly states: readonly number[]
  /** When each window ends, epoch milliseconds; `Infinity` if it is not open. */
  readonly ends: readonly number[]
}

/** The result of a grant, for a lease. */
export interface LeaseGrant extends LeaseLimits {
  readonly id: string
  /** The leased amount per unit. */
  readonly amounts: UnitAmounts
  /** The moment just before the grant was sent. */
  readonly sentAt: Moment
  /** The shared layers' clock at the grant, and when the first of its windows ends, epoch milliseconds. */
  readonly now: number
  readonly endsAt: number
  /** The start of every window that the lease was debited in. */
  readonly starts: readonly number[]
}

/**
 * Tokens per unit that were debited from the shared layers together. This process may spend them without a call until
 * one of their windows ends, at most for two seconds. Leases are never merged, since each has its own end. Leases of
 * the same windows may be spent together.
 */
export class Lease {
  readonly grant: LeaseGrant
  /** The remaining tokens, of each unit. */
  readonly amounts: number[]
  readonly #usableMs: number

  constructor(grant: LeaseGrant) {
    this.grant = grant
    this.amounts = [...grant.amounts]
    this.#usableMs = Math.min(grant.endsAt - grant.now, MAX_LEASE_MS) - MARGIN_MS
  }

  spend(costs: UnitAmounts): void {
    takeFrom(this.amounts, costs)
  }

  /** Spends as much of the costs as is left. @returns the rest */
  spendUpTo(costs: UnitAmounts): UnitAmounts {
    const spent = this.amounts.map((amount, unit) => Math.min(amount, costs[unit] ?? 0))
    takeFrom(this.amounts, spent)
    return minus(costs, spent)
  }

  putBack(amounts: UnitAmounts): void {
    addTo(this.amounts, amounts)
  }

  isLive(now: Moment): boolean {
    return elapsedMs(this.grant.sentAt, now) < this.#usableMs
  }

  /** Milliseconds from sending until the lease expires. */
  get usableMs(): number {
    return this.#usableMs
  }
}

/** Whether all of the leases may be spent, under the given limits if there are any. */
export function areUsable(leases: readonly Lease[], now: Moment, limits: LeaseLimits | undefined): boolean {
  for (const lease of leases) {
    if (!lease.isLive(now)) return false
    if (limits !== undefined && !areSameLimits(lease.grant, limits)) return false
  }
  return true
}
