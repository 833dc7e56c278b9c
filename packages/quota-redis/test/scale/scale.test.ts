import { describe, expect, it } from 'vitest'
import type { Costs } from './costs.ts'
import { simulate } from './simulation.ts'

/** About what was measured of calls. */
const COSTS: Costs = {
  serverCallUs: 26,
  serverDecisionUs: 5.2,
  nodeCallUs: 50,
  nodeDecisionUs: 8,
  grantUs: 375,
  grantProcessUs: 16,
  networkUs: 50,
}

const SHAPE = { seconds: 0.1, limit: 10 ** 11, seed: 7 }

describe('processes on a virtual clock', () => {
  it('concurrent callers share calls to a server that small calls would saturate', async () => {
    const { admittedPerSecond, p99Ms, decisionsACall } = await simulate(
      { ...SHAPE, perSecond: 120_000, processes: 5, primaries: 1 },
      COSTS,
    )
    expect(admittedPerSecond).toBeGreaterThan(115_000)
    expect(p99Ms).toBeLessThan(5)
    expect(decisionsACall).toBeGreaterThan(5)
  })

  it('processes spend leases of the site and call only their subjects’ servers', async () => {
    const load = { ...SHAPE, perSecond: 60_000, processes: 3, primaries: 3 }
    const { admittedPerSecond, refused, grantsPerSecond, busiestPrimary } = await simulate(load, COSTS)
    expect(admittedPerSecond).toBeGreaterThan(57_000)
    expect(refused).toBe(0)
    expect(grantsPerSecond).toBeGreaterThan(0)
    expect(grantsPerSecond).toBeLessThan(200)
    expect(busiestPrimary).toBeLessThan(1)
  })

  it('processes are refused when the site is used up, and all of it gets spent', async () => {
    const load = { ...SHAPE, seconds: 0.2, limit: 12_000, perSecond: 60_000, processes: 3, primaries: 3 }
    const { refused, admittedPerSecond } = await simulate(load, COSTS)
    expect(refused).toBeGreaterThan(0)
    expect(admittedPerSecond).toBeLessThan(60_000)
  })
})
