import { hash32, layerKey } from '@scoregw/quota/store'
import { GROUPS } from '../../src/leases/groups.ts'

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
