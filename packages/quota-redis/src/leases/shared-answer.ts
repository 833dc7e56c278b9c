/** A demand on the rows that all subjects share. */
export interface SharedRequest extends LeaseLimits {
  /** One number a unit; slots behind them are passed over. */
  readonly costs: readonly number[]
  /** Whether the request was charged to its own rows before, and so may open windows. */
  readonly mayOpen: boolean
}

/** What a request is decided under. */
export interface LeaseLimits {
  /** Of the windows of the shared layers. */
  readonly limits: readonly number[]
  /** How many tokens come back to each bucket; there where some do. Then the shared layers decide each request. */
  readonly rates?: readonly number[] | undefined
  /** Of the settings that the limits came from; absent where none are followed. */
  readonly settingsRevision: string | undefined
  /** Where the calendar windows of the shared layers stand, as of a take; absent where there are none. */
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
 * - `charged`: the tokens are this request's, from the shared layers or from a lease.
 * - `refused`: they do not fit; nothing was charged.
 * - `would-open`: they fit, but in a window that is closed; nothing was charged. The own rows come first then.
 * - `stale`: other settings are in force, or the shared layers' clock is outside of the periods.
 */
export interface SharedAnswer {
  readonly outcome: 'charged' | 'refused' | 'would-open' | 'stale'
  /** By the shared layers' clock, epoch milliseconds. */
  readonly now: number
  /** Of the shared rows, this request included if it was charged, idle tokens of this process left out. */
  readonly states: readonly number[]
  /** Of `stale`: the revision that the shared layers know; absent where it is the periods that are stale. */
  readonly settingsRevision?: string | undefined
}

/** By the statuses of `grant.lua`. */
export const OUTCOMES: Readonly<Record<string, SharedAnswer['outcome']>> = {
  a: 'charged',
  r: 'refused',
  w: 'would-open',
  s: 'stale',
  t: 'stale',
}
