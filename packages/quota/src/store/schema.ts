import { placedLimits } from '../policy/cells.ts'
import type { Policy } from '../policy/policy.ts'
import type { Subject } from '../policy/units.ts'
import type { LayerSchema, StoreSchema } from '../windows/identity.ts'

export type { LayerSchema, StoreSchema, Subject }

/**
 * A subject's keys: one for all layers, or by {@link LayerSchema.by}. `null`: it has no key there, and its requests leave
 * out those layers.
 */
export type SubjectKeys = string | Readonly<Record<string, string | null>>

/** Returns the counters that a policy needs. */
export function storeSchema(policy: Policy): StoreSchema {
  return placedLimits(policy).schema
}

/** The member of a subject that is its key in a layer. */
export function keyName({ name, by = name }: Pick<LayerSchema, 'name' | 'by'>): string {
  return by
}

/** Whether a subject has a key in a layer. Without one, the layer's limits don't apply. */
export function hasKey(layer: Pick<LayerSchema, 'name' | 'by' | 'shared'>, subject: SubjectKeys): boolean {
  return layer.shared || typeof subject === 'string' || subject[keyName(layer)] !== null
}

/** Returns a subject's key in a layer. Shared layers have one key for all subjects. */
export function layerKey(layer: Pick<LayerSchema, 'name' | 'by' | 'shared'>, subject: SubjectKeys): string {
  if (layer.shared) return ''
  return typeof subject === 'string' ? subject : subject[keyName(layer)]!
}

/** The owner of ids and holds. */
export interface Owner {
  /** The member of the subject that has its key: see {@link LayerSchema.by}. */
  readonly by: string
  readonly key: string
}

/** Returns the owner of a subject's ids and holds: its key in the first layer that isn't shared and in which it has one. */
export function ownerOf({ layers }: Pick<StoreSchema, 'layers'>, subject: SubjectKeys): Owner {
  for (const layer of layers) {
    if (layer.shared) continue
    const by = keyName(layer)
    const key = typeof subject === 'string' ? subject : subject[by]
    if (typeof key === 'string') return { by, key }
  }
  throw new TypeError('the subject has no key in any layer of its own')
}

/** A server-side id that makes repeated reservations safe. */
export interface ReservationId {
  /** The caller's id, 1 to 256 bytes. It belongs to the subject. */
  readonly id: string
  /** Identifies the holder of an id: a new text for each reservation handle in any process. */
  readonly nonce: string
  /** The use of the id. Using it for something else is a conflict. */
  readonly fingerprint: string
  /** How long the record is kept after its last write, in milliseconds. */
  readonly ttlMs: number
}
