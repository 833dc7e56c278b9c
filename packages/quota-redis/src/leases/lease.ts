import type { Clock } from '@scoregw/quota'

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
export interface LeaseTerms {
  readonly id: string
  readonly tokens: number
  /** Just before the grant was sent. */
  readonly sentAt: Moment
  /** The site's clock at the grant, and when the first of its windows ends, epoch milliseconds. */
  readonly now: number
  readonly endsAt: number
  /** Of every window that it was debited in. */
  readonly starts: readonly number[]
  readonly limits: readonly number[]
  readonly settingsVersion: number
}

/**
 * Tokens that were debited at the site and that this process may spend without asking: while none of their windows has
 * ended, and two seconds at the most. Leases are never added up, since each belongs to windows of its own.
 */
export class Lease {
  readonly terms: LeaseTerms
  tokens: number
  readonly #usableMs: number

  constructor(terms: LeaseTerms) {
    this.terms = terms
    this.tokens = terms.tokens
    this.#usableMs = Math.min(terms.endsAt - terms.now, MAX_LEASE_MS) - MARGIN_MS
  }

  isLive(now: Moment): boolean {
    return elapsedMs(this.terms.sentAt, now) < this.#usableMs
  }

  /** Milliseconds from the sending until it is live no more. */
  get usableMs(): number {
    return this.#usableMs
  }

  /** Whether it was granted under these limits and this version. */
  isUnder(limits: readonly number[], settingsVersion: number): boolean {
    return this.terms.settingsVersion === settingsVersion && isSame(this.terms.limits, limits)
  }
}

export function isSame(a: readonly number[], b: readonly number[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Whether all of them may be spent; under these limits, if there are any. */
export function areUsable(
  leases: readonly Lease[],
  now: Moment,
  limits: readonly number[] | undefined,
  settingsVersion: number,
): boolean {
  for (const lease of leases) {
    if (!lease.isLive(now)) return false
    if (limits !== undefined && !lease.isUnder(limits, settingsVersion)) return false
  }
  return true
}
