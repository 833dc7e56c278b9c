/** Amounts by the names of units. */
export type ModelCosts = Readonly<Record<string, number>>

/** Where a part of a hold is: in the window of a name that began then. */
export interface ModelCharge {
  readonly startedAt: number
  readonly amount: number
  readonly unit: string
}

/** What a commit came to; a repeat gets it again. */
export interface ModelSettlement {
  readonly charged: ModelCosts
  readonly uncharged: ModelCosts
  readonly reserved: ModelCosts
}

/** The record of an id. Plain data. */
export interface ModelRecord {
  state: 'reserved' | 'committed' | 'cancelled' | 'expired'
  /** Who reserved under it. */
  readonly holder: string
  /** What it is used for; another use of the same id is a conflict. */
  readonly use: string
  /** How long it is remembered after its last use, in milliseconds. */
  readonly ttlMs: number
  /** `null`: as long as its hold is open. */
  keptUntil: number | null
  /** What it has now; what was given back is no part of it. */
  costs: ModelCosts
  /** By window; of each only what was charged to the opening that was charged last. */
  charged: Record<string, ModelCharge>
  /** Of a hold. */
  hold: ModelHoldPart | null
  settlement: ModelSettlement | null
}

/** What makes a record that of a hold. */
export interface ModelHoldPart {
  /** Whose: the key in the first layer of its own. */
  readonly owner: string
  readonly takenAt: number
  endsAt: number
  /** The slots that it has, by name. */
  readonly slots: readonly string[]
}
