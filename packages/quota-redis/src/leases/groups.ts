import { hash32, keyName, layerKey } from '@scoregw/quota/internal'
import type { LayerSchema, SubjectKeys } from '@scoregw/quota/store'
import { keySlot, SLOTS } from '../connection/cluster-nodes.ts'

/**
 * The number of slots that subjects are spread over. Takes of one group share a script call, so fewer groups make
 * larger batches. Twelve divides evenly over two, three, four or six primaries. The number is part of the keys: another
 * number would start new counters.
 */
export const GROUPS = 12

/**
 * The group of a subject. If layers have different keys, all subjects are in one group: a key that many
 * subjects share, such as a team's, cannot be in all their slots.
 */
export function groupOf(layers: readonly LayerSchema[], subject: SubjectKeys): number {
  const [own, ...others] = layers.filter(({ shared }) => !shared)
  return own === undefined || others.some((layer) => keyName(layer) !== keyName(own))
    ? 0
    : hash32(layerKey(own, subject)) % GROUPS
}

/**
 * The key prefix of each group. The names are chosen so that their slots are evenly spaced, and primaries with equal
 * slot ranges get equally many groups. With random names, one of three primaries would often get only half its share.
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
