import { hash32, layerKey } from '@scoregw/quota/store'
import { GROUPS } from '../../src/leases/groups.ts'

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const SUBJECTS = 100_000
const OWN_LAYER = { name: 'personal', shared: false }

/** Groups of subjects, by the hash that the store takes. */
const GROUPS_OF_SUBJECTS = Uint8Array.from({ length: SUBJECTS }, (_, index) => {
  return hash32(layerKey(OWN_LAYER, `user-${index}`)) % GROUPS
})

/** The group of a subject that is as likely as any other. */
export function anyGroup(random: () => number): number {
  return GROUPS_OF_SUBJECTS[Math.floor(random() * SUBJECTS)]!
}

/** Time to the next of requests that come independently of each other, so many a second on average. */
export function gapUs(perSecond: number, random: () => number): number {
  return (-Math.log(1 - random()) * 1e6) / perSecond
}
