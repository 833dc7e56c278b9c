import type { CellSchema } from './identity.ts'

/** The part of a layer that counters need. */
export interface LayerSchema {
  readonly name: string
  /**
   * The member of a subject that is its key in this layer. Layers with the same one have the same owners.
   *
   * @default the layer's name
   */
  readonly by?: string | undefined
  /** Whether all subjects share its counters. */
  readonly shared: boolean
  /** The cells of its rows in order: windows by length, then by label; slots last. */
  readonly cells: readonly CellSchema[]
}

/**
 * The counters of one policy. A counter belongs to the _name_ of its layer, its subject's key, and its limit's identity.
 * Requests refer to layers by their positions in the list, and to limits by their positions among the cells of all
 * layers.
 */
export interface StoreSchema {
  /**
   * The names of the units that limits count. Amounts in requests have one number per unit in this order, then the
   * number of slots if the request may take any. The order doesn't identify counters.
   */
  readonly units: readonly string[]
  readonly layers: readonly LayerSchema[]
  /** Sets of limits that a request can count in, by ascending position. The first has all limits. */
  readonly sets: readonly (readonly number[])[]
}
