import { policyCells } from '../policy/cells.ts'
import type { LayerDefinition, Policy } from '../policy/policy.ts'
import { type Subject, unitNames } from '../policy/units.ts'
import type { CellSchema } from '../windows/identity.ts'

export type { Subject }

/** A layer as counters know it. */
export type LayerSchema = Pick<LayerDefinition, 'name' | 'shared'>

/**
 * What the counters of one policy are made of. A counter belongs to the *names* of its layer and category, its subject's
 * key, and its limit's identity; requests name layers and categories by their places in these lists.
 */
export interface StoreSchema {
  /**
   * What its limits count, by name. Amounts in requests are one number for each of these, in this order; behind them, where
   * a request may take slots, stands their number. The order is no part of what a counter is recognised by.
   */
  readonly units: readonly string[]
  /** The cells of every row in order: windows by length, then by label; slots last. */
  readonly cells: readonly CellSchema[]
  readonly categories: readonly string[]
  readonly layers: readonly LayerSchema[]
}

/** The counters that a policy needs. */
export function storeSchema(policy: Policy): StoreSchema {
  const { categories, layers } = policy
  return {
    units: unitNames(policy),
    cells: policyCells(policy),
    categories,
    layers: layers.map(({ name, shared }) => ({ name, shared })),
  }
}

/** A subject's key in a layer. Shared layers have one key for all subjects. */
export function layerKey(layer: LayerSchema, subject: Subject): string {
  if (layer.shared) return ''
  return typeof subject === 'string' ? subject : subject[layer.name]!
}

/** The key of a subject's ids and holds: its key in the first layer that isn't shared. */
export function idOwnerKey({ layers }: Pick<StoreSchema, 'layers'>, subject: Subject): string {
  return layerKey(layers.find(({ shared }) => !shared)!, subject)
}

/** A server-side id that makes a repeated reservation safe. */
export interface ReservationId {
  /** The caller's id, 1 to 256 bytes. It belongs to the category and to the subject's key in its first own layer. */
  readonly id: string
  /** Distinguishes the holders of one id: a new text for each reservation handle in any process. */
  readonly nonce: string
  /** What the id was used for. Using it for something else is a conflict. */
  readonly fingerprint: string
  /** How long the record is kept after its last write, in milliseconds. */
  readonly ttlMs: number
}
