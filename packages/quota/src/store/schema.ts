import { policyCells } from '../policy/cells.ts'
import type { LayerDefinition, Policy } from '../policy/policy.ts'
import { type Subject, unitNames } from '../policy/units.ts'
import type { CellSchema } from '../windows/identity.ts'

export type { Subject }

/** The part of a layer that counters need. */
export type LayerSchema = Pick<LayerDefinition, 'name' | 'shared'>

/**
 * The counters of one policy. A counter belongs to the *names* of its layer and category, its subject's key, and its
 * limit's identity. Requests refer to layers and categories by their positions in these lists.
 */
export interface StoreSchema {
  /**
   * The names of the units that limits count. Amounts in requests have one number per unit in this order, then the
   * number of slots if the request may take any. The order doesn't identify counters.
   */
  readonly units: readonly string[]
  /** The cells of every row in order: windows by length, then by label; slots last. */
  readonly cells: readonly CellSchema[]
  readonly categories: readonly string[]
  readonly layers: readonly LayerSchema[]
}

/** Returns the counters that a policy needs. */
export function storeSchema(policy: Policy): StoreSchema {
  const { categories, layers } = policy
  return {
    units: unitNames(policy),
    cells: policyCells(policy),
    categories,
    layers: layers.map(({ name, shared }) => ({ name, shared })),
  }
}

/** Returns a subject's key in a layer. Shared layers have one key for all subjects. */
export function layerKey(layer: LayerSchema, subject: Subject): string {
  if (layer.shared) return ''
  return typeof subject === 'string' ? subject : subject[layer.name]!
}

/** Returns the key of a subject's ids and holds: its key in the first layer that isn't shared. */
export function idOwnerKey({ layers }: Pick<StoreSchema, 'layers'>, subject: Subject): string {
  return layerKey(layers.find(({ shared }) => !shared)!, subject)
}

/** A server-side id that makes repeated reservations safe. */
export interface ReservationId {
  /**
   * The caller's id, 1 to 256 bytes. It belongs to the category and to the subject's key in the first layer that isn't
   * shared.
   */
  readonly id: string
  /** Identifies the holder of an id: a new text for each reservation handle in any process. */
  readonly nonce: string
  /** The use of the id. Using it for something else is a conflict. */
  readonly fingerprint: string
  /** How long the record is kept after its last write, in milliseconds. */
  readonly ttlMs: number
}
