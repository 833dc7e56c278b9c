/** Amounts by unit. */
export type ModelCosts = Readonly<Record<string, number>>

/** Where a part of a hold was charged: a window by its name and start. */
export interface ModelCharge {
  readonly startedAt: number
  readonly amount: number
  readonly unit: string
}

/** The result of a commit. A repeat returns it again. */
export interface ModelSettlement {
  readonly charged: ModelCosts
  readonly uncharged: ModelCosts
  readonly reserved: ModelCosts
}

/** The record of an id, as plain data. */
export interface ModelRecord {
  state: 'reserved' | 'committed' | 'cancelled' | 'expired'
  /** Who reserved with it. */
  readonly holder: string
  /** The use of the id. Another use is a conflict. */
  readonly use: string
  /** How long it is remembered after its last use, in milliseconds. */
  readonly ttlMs: number
  /** `null`: until its hold ends. */
  keptUntil: number | null
  /** Its current amounts, without refunds. */
  costs: ModelCosts
  /** By window: what was charged to its latest opening. */
  charged: Record<string, ModelCharge>
  /** Present for a hold. */
  hold: ModelHoldPart | null
  settlement: ModelSettlement | null
}

/** The part of a record that only holds have. */
export interface ModelHoldPart {
  /** Whose hold: the first layer that isn't shared, and the subject's key there. */
  readonly owner: string
  readonly takenAt: number
  endsAt: number
  /** The names of its slots. */
  readonly slots: readonly string[]
}
