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
  | 'end with the period'
  | 'stale outside of the periods'
  | 'put what the site charged into the record'
  | 'hand over once'
  | 'a mark tells whose tokens the record has'
  | 'complete what is partial'
  | 'give back what a gone hold does not need'
  | 'undo a hold as a whole'
  | 'apply to the record that was decided on'
  | 'hand over what was applied'

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

/** What calendar windows and holds add. */
export const RULES_OF_KINDS: readonly Rule[] = [
  'end with the period',
  'stale outside of the periods',
  'put what the site charged into the record',
  'hand over once',
  'a mark tells whose tokens the record has',
  'complete what is partial',
  'give back what a gone hold does not need',
  'undo a hold as a whole',
  'apply to the record that was decided on',
  'hand over what was applied',
]

export type Step =
  | {
      readonly kind: 'ask' | 'hold' | 'refresh' | 'give back' | 'learn' | 'crash' | 'sweep'
      readonly process: number
      readonly cost: number
    }
  | { readonly kind: 'deliver'; readonly of: number; readonly replicated: boolean }
  | { readonly kind: 'lose' | 'double' | 'cancel' | 'again'; readonly of: number }
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
  /** Whether it ends by itself. */
  readonly isHold: boolean
  /** `failed`: its caller heard that the store did not answer. `doubt`: charged, and nobody has heard yet. */
  state: 'asking' | 'charged' | 'admitted' | 'refused' | 'cancelled' | 'doubt' | 'failed' | 'ended'
  /** Site windows it counts in. */
  starts: readonly number[]
  /** The limit in force where its tokens were granted. */
  limit: number
  personalStart: number
  opened: boolean
  /** It was sent twice, or an earlier try opened windows: nobody knows what became of that. */
  hasDoubt: boolean
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
      /** The own rows were charged before. */
      readonly open: boolean
    }
  | { readonly kind: 'would open' | 'site refused'; readonly work: Work; readonly process: number }
  | {
      readonly kind: 'stale'
      readonly work: Work
      readonly process: number
      readonly open: boolean
      readonly period: number
    }
  | { readonly kind: 'hold'; readonly work: Work; readonly process: number; readonly shared: Shared }
  | {
      readonly kind: 'attach'
      readonly work: Work
      readonly process: number
      readonly shared: Shared
      /** Of the record that it was decided on. */
      readonly version: number
    }
  | {
      readonly kind: 'hold says'
      readonly work: Work
      readonly process: number
      readonly shared: Shared
      readonly says: 'new' | 'refused' | 'stored' | 'gone'
      /** Of the take whose tokens the record has. */
      readonly mark: number
      readonly isPartial: boolean
    }
  | { readonly kind: 'attach says'; readonly process: number; readonly shared: Shared; readonly isGone: boolean }
  | { readonly kind: 'sweep'; readonly process: number }
  /** A process reads a record, to end its hold. */
  | { readonly kind: 'read hold'; readonly work: Work; readonly process: number }
  | ({ readonly kind: 'end hold' } & End)
  | { readonly kind: 'end says'; readonly end: End; readonly process: number; readonly isApplied: boolean }
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

/** Tokens of the site that are a hold's. */
export interface Shared {
  readonly mark: number
  readonly starts: readonly number[]
  readonly tokens: number
  readonly limit: number
  /** It was sent again, since nobody knew whether it had arrived. */
  isRepeated: boolean
}

/** The end of a hold, as a process decided it on a record that it had read. */
export interface End {
  readonly work: Work
  readonly process: number
  /** Of the record that it was decided on, and of the one that it becomes. */
  readonly version: number
  readonly next: number
  readonly as: 'ended' | 'cancelled'
  /** The refund to the site then. */
  readonly shared: Shared | undefined
}

/** A hold in the slot of its subject. */
export interface HoldRecord {
  /** Another one after each change. */
  version: number
  readonly work: Work
  readonly mark: number
  readonly endsAt: number
  state: 'open' | 'gone'
  /** Nothing: what the site charged is yet to be said. */
  shared: Shared | undefined
  /** Where its own tokens are. */
  readonly personalStart: number
}
