import { hash32, type LayerSchema, layerKey, type Subject } from '@scoregw/quota/store'
import { keySlot, SLOTS } from '../connection/key-slot.ts'

/**
 * Over how many slots subjects are spread. Those of one group are decided in one script, so that few groups make large
 * batches; twelve are even shares for two, three, four or six primaries. Part of the keys: another number would start
 * other counters.
 */
export const GROUPS = 12

/**
 * The group of a subject. A layer that many subjects share a key of (a team) cannot be in the slots of them all: where
 * there are several layers with keys of their own, everybody is in one group.
 */
export function groupOf(layers: readonly LayerSchema[], subject: Subject): number {
  const [own, another] = layers.filter(({ shared }) => !shared)
  return own === undefined || another !== undefined ? 0 : hash32(layerKey(own, subject)) % GROUPS
}

/**
 * The beginnings of the groups' keys, one a group: named so that their slots are evenly apart, and primaries with ranges
 * of equal length have as many groups each. Left to chance a primary of three would have half of so few.
 */
export function groupPrefixes(prefix: string): readonly string[] {
  return Array.from({ length: GROUPS }, (_, group) => {
    const from = Math.ceil((group * SLOTS) / GROUPS)
    const to = Math.ceil(((group + 1) * SLOTS) / GROUPS)
    for (let attempt = 0; ; attempt++) {
      const name = `${prefix}~${group}.${attempt}`
      const slot = keySlot(`{${name}}`)
      if (slot >= from && slot < to) return name
    }
  })
}
