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
  /** The cells of every row, in the order of a row: windows by length, then by label; slots last. */
  readonly cells: readonly CellSchema[]
  readonly categories: readonly string[]
  readonly layers: readonly LayerSchema[]
}

/** The counters that a policy requests. */
export function storeSchema(policy: Policy): StoreSchema {
  const { categories, layers } = policy
  return {
    units: unitNames(policy),
    cells: policyCells(policy),
    categories,
    layers: layers.map(({ name, shared }) => ({ name, shared })),
  }
}

/** A subject's key in a layer: shared layers have one for all subjects. */
export function layerKey(layer: LayerSchema, subject: Subject): string {
  if (layer.shared) return ''
  return typeof subject === 'string' ? subject : subject[layer.name]!
}

/** The key under which a subject's ids and holds are kept: its key in the first layer of its own. */
export function idOwnerKey({ layers }: Pick<StoreSchema, 'layers'>, subject: Subject): string {
  return layerKey(layers.find(({ shared }) => !shared)!, subject)
}

/** A server-side id that makes a repeated reservation harmless. */
export interface ReservationId {
  /** The caller's id, 1 to 256 bytes, together with category and the subject's key in its first own layer. */
  readonly id: string
  /** Distinguishes the holders of one id: another text for each reservation handle, in whatever process. */
  readonly nonce: string
  /** What the id was used for; another use of the same id is a conflict. */
  readonly fingerprint: string
  /** How long the record is kept after its last write, in milliseconds. */
  readonly ttlMs: number
}
