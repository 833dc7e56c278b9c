import { cellsIn, layoutOf, windowCell } from '@scoregw/quota/internal'
import { uniform } from '@scoregw/quota-histories'
import { describe, expect, it } from 'vitest'
import { LeaseCounts } from '../../src/leases/lease-report.ts'
import type { SharedAnswer } from '../../src/leases/shared-answer.ts'
import { SharedPool } from '../../src/leases/shared-pool.ts'
import { SimulatedSite } from './simulated-site.ts'

const HOUR_MS = 3_600_000
const HOUR = cellsIn(['tokens'], [windowCell({ label: '1h', lengthMs: HOUR_MS })])
const NOW = 1_790_000_000_000

interface Process {
  readonly site: SimulatedSite
  readonly pool: SharedPool
  ask(cost: number): SharedAnswer | Promise<SharedAnswer>
}

function newProcess(): Process {
  const site = new SimulatedSite([HOUR_MS], NOW)
  let leases = 0
  const pool = new SharedPool({
    calls: site.callsOf('one'),
    layers: [0],
    units: 1,
    layout: layoutOf(uniform(['tokens'], HOUR, [{ name: 'site', shared: true }])),
    newLeaseId: () => `one:${leases++}`,
    moment: () => site.moment,
    timeAfter: () => site.nowMs,
    counts: new LeaseCounts(),
    refund: async (starts, tokens) => site.refund(starts, tokens),
  })
  const ask = (cost: number) =>
    pool.take({ costs: [cost], limits: [1_000_000], settingsRevision: undefined, periods: undefined, mayOpen: true })
  return { site, pool, ask }
}

/** A process with several leases, two of which have tokens left: 11 and 128. */
async function withTwoLeases(): Promise<Process> {
  const process = newProcess()
  const { pool, ask } = process
  for (const cost of [10, 10, 10, 10, 20, 30, 19, 30]) {
    await ask(cost)
    await pool.arrived
    await Promise.resolve()
  }
  expect(left(pool)).toEqual([0, 0, 11, 128])
  return process
}

/** Tokens of its leases. */
function left({ leases }: SharedPool): number[] {
  return leases.map(({ amounts }) => amounts[0]!)
}

describe('several leases with a small rest', () => {
  it('the rests of several leases are spent together', async () => {
    const { pool, ask } = await withTwoLeases()
    expect(ask(120)).toMatchObject({ outcome: 'charged' })
    expect(ask(15)).toMatchObject({ outcome: 'charged' })
    expect(left(pool)).toEqual([4])
    expect(ask(5)).toBeInstanceOf(Promise)
    await pool.close()
  })

  it('the rests of leases with different windows aren’t spent together', async () => {
    const { site, pool, ask } = await withTwoLeases()
    site.close()
    site.nowMs++
    for (const cost of [150, 150]) await ask(cost)
    const all = left(pool)
    expect(all).toEqual([0, 0, 11, 128, expect.any(Number)])
    expect(ask(all.reduce((sum, tokens) => sum + tokens))).toBeInstanceOf(Promise)
    expect(left(pool)).toEqual(all)
    await pool.close()
  })
})

describe('leases under steady demand', () => {
  it('leases under steady demand are renewed shortly before they run out', async () => {
    const { site, pool, ask } = newProcess()
    let waits = 0
    for (let ms = 0; ms < 4_000; ms += 10) {
      const [before, isWarm] = [site.grants, ms >= 1_000]
      const answer = ask(1)
      if (answer instanceof Promise && isWarm) waits++
      await answer
      await pool.arrived
      await new Promise((resolve) => setImmediate(resolve))
      // Half a second's demand is 50 tokens or so.
      if (site.grants > before && isWarm) expect(pool.leases.at(-1)!.amounts[0]).toBeGreaterThan(30)
      site.nowMs += 10
    }
    expect(waits).toBe(0)
    await pool.close()
  })
})
