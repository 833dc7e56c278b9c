import { type LayerDefinition, layerKey, type Subject } from '@scoregw/quota'
import { keySlot, SLOTS } from '../client/key-slot.ts'

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
export function groupOf(layers: readonly LayerDefinition[], subject: Subject): number {
  const own = layers.filter(({ shared }) => !shared)
  if (own.length !== 1) return 0
  let hash = 0x811c9dc5
  const key = layerKey(own[0]!, subject)
  // FNV-1a over UTF-16 units.
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % GROUPS
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
