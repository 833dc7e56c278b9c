/** What is asked of the rows that everybody shares. */
export interface SiteRequest {
  readonly cost: number
  /** Of the windows of the shared layers. */
  readonly limits: readonly number[]
  readonly settingsVersion: number
  /** Whether the request was charged to its own rows before, and so may open windows. */
  readonly mayOpen: boolean
}

/**
 * - `charged`: the tokens are this request's, from the site or from a lease.
 * - `refused`: they do not fit; nothing was charged.
 * - `would-open`: they fit, but in a window that is closed; nothing was charged. The own rows come first then.
 * - `stale`: newer settings are in force.
 */
export interface SiteAnswer {
  readonly outcome: 'charged' | 'refused' | 'would-open' | 'stale'
  /** By the site's clock, epoch milliseconds. */
  readonly now: number
  /** Of the shared rows, this request included if it was charged, idle tokens of this process left out. */
  readonly states: readonly number[]
}

/** By the letters of `grant.lua`. */
export const OUTCOMES: Readonly<Record<string, SiteAnswer['outcome']>> = {
  a: 'charged',
  r: 'refused',
  w: 'would-open',
  s: 'stale',
}
