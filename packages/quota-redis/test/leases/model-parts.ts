/** The rules of the protocol. A model can leave one out, to see what it is for. */
export const RULES = [
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
  'end with the period',
  'stale outside of the periods',
] as const

export type Rule = (typeof RULES)[number]

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

export interface Lease {
  readonly id: number
  readonly starts: readonly number[]
  /** The highest under which some of its tokens were granted. */
  limit: number
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
}

export type Message =
  | {
      readonly kind: 'grant'
      readonly work: Work | undefined
      readonly process: number
      readonly sentAt: number
      readonly open: boolean
      /** The first of two periods that the process knows. */
      readonly period: number
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
  | {
      readonly kind: 'stale'
      readonly work: Work
      readonly process: number
      readonly open: boolean
      readonly period: number
    }
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
