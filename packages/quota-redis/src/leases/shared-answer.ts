/** A demand on the rows that all subjects share. */
export interface SharedRequest extends LeaseLimits {
  /** One number per unit. Slots after them are ignored. */
  readonly costs: readonly number[]
  /** Whether the request already charged its own rows, and so may open windows. */
  readonly mayOpen: boolean
}

/** The limits that a request is decided under. */
export interface LeaseLimits {
  /** One per window of the shared layers. */
  readonly limits: readonly number[]
  /** How many tokens return to each bucket. Set if there are buckets; the shared layers then decide each request. */
  readonly rates?: readonly number[] | undefined
  /** The revision of the settings that the limits came from; `undefined` if no settings are followed. */
  readonly settingsRevision: string | undefined
  /** The current calendar periods of the shared layers, as in a take; `undefined` without calendar windows. */
  readonly periods: readonly number[] | undefined
}

export function isSame(a: readonly number[], b: readonly number[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

const NONE: readonly number[] = []

export function areSameLimits(a: LeaseLimits, b: LeaseLimits): boolean {
  if (a.settingsRevision !== b.settingsRevision || !isSame(a.limits, b.limits)) return false
  if (!isSame(a.rates ?? NONE, b.rates ?? NONE)) return false
  return isSame(a.periods ?? NONE, b.periods ?? NONE)
}

/**
 * The shared layers' part of a decision.
 *
 * - `charged`: the tokens belong to this request, from the shared layers or from a lease.
 * - `refused`: they do not fit; nothing was charged.
 * - `would-open`: they fit, but in a closed window; nothing was charged. Charge the own rows first.
 * - `stale`: other settings are in force, or the shared layers' clock is outside the periods.
 */
export interface SharedAnswer {
  readonly outcome: 'charged' | 'refused' | 'would-open' | 'stale'
  /** By the shared layers' clock, epoch milliseconds. */
  readonly now: number
  /** The shared rows, including this request if it was charged, without this process's unspent leases. */
  readonly states: readonly number[]
  /** For `stale`: the revision that the shared layers have; absent if the periods are stale. */
  readonly settingsRevision?: string | undefined
}

/** The reply to a request that the shared layers called stale. */
export function stale({ now, settingsRevision }: Pick<SharedAnswer, 'now' | 'settingsRevision'>): {
  readonly outcome: 'stale'
  readonly now: number
  readonly states: readonly number[]
  readonly settingsRevision: string | undefined
} {
  return { outcome: 'stale', now, states: [], settingsRevision }
}

/** Outcomes by the statuses of `grant.lua`. */
export const OUTCOMES: Readonly<Record<string, SharedAnswer['outcome']>> = {
  a: 'charged',
  r: 'refused',
  w: 'would-open',
  s: 'stale',
  t: 'stale',
}

/** A request that waits for the shared layers. */
export interface Waiter {
  readonly request: SharedRequest
  /** Whether it is repeated after this process returned its leases. */
  isAgain: boolean
  readonly resolve: (answer: SharedAnswer) => void
  readonly reject: (error: unknown) => void
}
