import type { LayerDefinition, Policy } from '../policy/policy.ts'
import { inRowOrder } from '../windows/identity.ts'
import type { WindowDefinition } from '../windows/window.ts'

/** Who asks: one string, or one key for each layer that is not shared. Any text of 1 to 256 bytes. */
export type Subject = string | Readonly<Record<string, string>>

/** A layer as counters know it. */
export type LayerSchema = Pick<LayerDefinition, 'name' | 'shared'>

/**
 * What the counters of one policy are made of. A counter belongs to the *names* of its layer and category, its subject's
 * key, and its window's label and length; requests name layers and categories by their places in these lists.
 */
export interface StoreSchema {
  /** In the order of a row: by length, then by label. */
  readonly windows: readonly WindowDefinition[]
  readonly categories: readonly string[]
  readonly layers: readonly LayerSchema[]
}

/** The counters that a policy asks for. */
export function storeSchema({ windows, categories, layers }: Policy): StoreSchema {
  return {
    windows: inRowOrder(windows).map(({ label, lengthMs }) => ({ label, lengthMs })),
    categories,
    layers: layers.map(({ name, shared }) => ({ name, shared })),
  }
}

/** A subject's key in a layer: shared layers have one for everybody. */
export function layerKey(layer: LayerSchema, subject: Subject): string {
  if (layer.shared) return ''
  return typeof subject === 'string' ? subject : subject[layer.name]!
}

/** The key under which a subject's ids are kept: its key in the first layer of its own. */
export function idOwnerKey({ layers }: StoreSchema, subject: Subject): string {
  return layerKey(layers.find(({ shared }) => !shared)!, subject)
}
