import { describe, expect, it } from 'vitest'
import { keySlot } from '../../src/connection/cluster-nodes.ts'
import { GROUPS, groupPrefixes } from '../../src/leases/places.ts'

const SLOTS = 16_384

describe('groups of subjects', () => {
  it.each([2, 3, 4, 6, 12])('groups of subjects are spread evenly over %i primaries', (primaries) => {
    for (const prefix of ['quota', 'gateway', '配额']) {
      const slots = groupPrefixes(prefix).map((name) => keySlot(`{${name}}:row`))
      const counts = Array.from({ length: primaries }, () => 0)
      for (const slot of slots) counts[Math.floor((slot * primaries) / SLOTS)]! += 1
      expect(counts).toEqual(counts.map(() => GROUPS / primaries))
    }
  })
})
