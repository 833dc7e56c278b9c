import type { Clock } from '@scoregw/quota'
import type { UnitAmounts } from './amounts.ts'
import { areSameLimits, type LeaseLimits } from './shared-answer.ts'

/** Longest time that a lease is used, in milliseconds; so long lowered limits may go unheard at the most. */
export const MAX_LEASE_MS = 2_000
/** A lease is not used this close to its end, in milliseconds. */
const MARGIN_MS = 50

/** The same moment by a clock that never steps and by one that goes on while the machine sleeps. */
export interface Moment {
  readonly steadyMs: number
  readonly wallMs: number
}

/** @param testClock stands in for the wall clock, in tests */
export function momentBy(testClock: Clock | undefined): Moment {
  return { steadyMs: performance.now(), wallMs: testClock?.now() ?? Date.now() }
}

export function elapsedMs(from: Moment, to: Moment): number {
  return Math.max(to.steadyMs - from.steadyMs, to.wallMs - from.wallMs)
}

/** What a grant said of a lease. */
export interface LeaseGrant extends LeaseLimits {
  readonly id: string
  /** What was leased, of each unit. */
  readonly amounts: UnitAmounts
  /** Just before the grant was sent. */
  readonly sentAt: Moment
  /** The shared layers' clock at the grant, and when the first of its windows ends, epoch milliseconds. */
  readonly now: number
  readonly endsAt: number
  /** Of every window that it was debited in. */
  readonly starts: readonly number[]
}

/**
 * Amounts of each unit that were debited together at the shared layers and that this process may spend without a call: while none of their windows has
 * ended, and two seconds at the most. Leases are never made one, since each has an end of its own; those of the same windows
 * may be spent together.
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

  isLive(now: Moment): boolean {
    return elapsedMs(this.grant.sentAt, now) < this.#usableMs
  }

  /** Milliseconds from the sending until it is live no more. */
  get usableMs(): number {
    return this.#usableMs
  }
}

/** Whether all of them may be spent; under these limits, if given. */
export function areUsable(leases: readonly Lease[], now: Moment, limits: LeaseLimits | undefined): boolean {
  for (const lease of leases) {
    if (!lease.isLive(now)) return false
    if (limits !== undefined && !areSameLimits(lease.grant, limits)) return false
  }
  return true
}
