/**
 * The lease protocol without any server: processes, messages that are lost, late, doubled or overtake each other,
 * crashes, failovers. Time is a number of ticks. A rule can be left out, to see what it is for.
 */
export type Rule =
  | 'debit every window'
  | 'end with the window'
  | 'count from the sending'
  | 'never merge'
  | 'put back into the same windows'
  | 'credit nothing in doubt'
  | 'return once'
  | 'deduct before the return'
  | 'never take back'
  | 'drop what lowered limits granted'
  | 'refresh opens nothing'
  | 'personal before opening'
  | 'close what was opened in vain'
  | 'charge at the site is the instant'
  | 'wait for the replica'
  | 'row and record together'
  | 'peek at personal'

export const RULES: readonly Rule[] = [
  'debit every window',
  'end with the window',
  'count from the sending',
  'never merge',
  'put back into the same windows',
  'credit nothing in doubt',
  'return once',
  'deduct before the return',
  'never take back',
  'drop what lowered limits granted',
  'refresh opens nothing',
  'personal before opening',
  'close what was opened in vain',
  'charge at the site is the instant',
  'wait for the replica',
  'row and record together',
  'peek at personal',
]

export type Step =
  | {
      readonly kind: 'ask' | 'refresh' | 'give back' | 'learn' | 'crash'
      readonly process: number
      readonly cost: number
    }
  | { readonly kind: 'deliver'; readonly of: number; readonly replicated: boolean }
  | { readonly kind: 'lose' | 'double' | 'cancel'; readonly of: number }
  | { readonly kind: 'tick'; readonly ticks: number }
  | { readonly kind: 'limit'; readonly tokens: number }
  | { readonly kind: 'failover' | 'take back' }

export interface Window {
  start: number
  used: number
}

export interface Site {
  windows: Window[]
  /** Most that a return may credit, by lease. */
  leases: Map<number, number>
}

export interface Lease {
  readonly id: number
  readonly starts: readonly number[]
  readonly limit: number
  readonly version: number
  readonly until: number
  tokens: number
}

/** A request on its way, and what it was charged with. */
export interface Work {
  readonly process: number
  readonly cost: number
  /** `failed`: its caller heard that the store did not answer. `doubt`: charged, and nobody has heard yet. */
  state: 'asking' | 'charged' | 'admitted' | 'refused' | 'cancelled' | 'doubt' | 'failed'
  /** Site windows it counts in. */
  starts: readonly number[]
  /** The limit in force where its tokens were granted. */
  limit: number
  personalStart: number
  opened: boolean
}

export type Message =
  | {
      readonly kind: 'grant'
      readonly work: Work | undefined
      readonly process: number
      readonly sentAt: number
      readonly open: boolean
    }
  | {
      readonly kind: 'granted'
      readonly work: Work | undefined
      readonly process: number
      readonly lease: Lease
      readonly sentAt: number
      readonly serial: number
    }
  | { readonly kind: 'would open' | 'site refused'; readonly work: Work; readonly process: number }
  | { readonly kind: 'personal'; readonly work: Work; readonly process: number }
  | { readonly kind: 'record'; readonly work: Work; readonly process: number }
  | { readonly kind: 'personal says'; readonly work: Work; readonly process: number; readonly admitted: boolean }
  | {
      readonly kind: 'return'
      readonly process: number
      readonly lease: number
      readonly starts: readonly number[]
      readonly tokens: number
    }
