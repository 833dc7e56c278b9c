import { Layout, windowCell } from '@scoregw/quota/store'
import { describe, expect, it } from 'vitest'
import { LeaseCounts } from '../../src/leases/lease-report.ts'
import type { SiteAnswer } from '../../src/leases/site-answer.ts'
import { SitePool } from '../../src/leases/site-pool.ts'
import { SimulatedSite } from './simulated-site.ts'

const HOUR_MS = 3_600_000
const NOW = 1_790_000_000_000

/** A process with several leases, two of which have tokens left: 11 and 68. */
async function withTwoLeases(): Promise<{
  readonly site: SimulatedSite
  readonly pool: SitePool
  ask(cost: number): SiteAnswer | Promise<SiteAnswer>
}> {
  const site = new SimulatedSite([HOUR_MS], NOW)
  let leases = 0
  const pool = new SitePool({
    calls: site.callsOf('one'),
    keys: { settings: '', lists: '', book: '', rows: [] },
    layout: new Layout([windowCell({ label: '1h', lengthMs: HOUR_MS })]),
    newLeaseId: () => `one:${leases++}`,
    moment: () => site.moment,
    timeAfter: () => site.nowMs,
    counts: new LeaseCounts(),
    refund: async (starts, tokens) => site.refund(starts, tokens),
  })
  const ask = (cost: number) =>
    pool.take({ cost, limits: [1_000_000], settingsRevision: undefined, periods: undefined, mayOpen: true })
  for (const cost of [10, 10, 10, 10, 20, 30, 19, 30]) {
    await ask(cost)
    await pool.refreshed
    await Promise.resolve()
  }
  expect(left(pool)).toEqual([0, 0, 11, 68])
  return { site, pool, ask }
}

/** Tokens of its leases. */
function left({ leases }: SitePool): number[] {
  return leases.map(({ tokens }) => tokens)
}

describe('what is left in several leases', () => {
  it('is spent together, so that none of it is missed', async () => {
    const { pool, ask } = await withTwoLeases()
    expect(ask(60)).toMatchObject({ outcome: 'charged' })
    expect(ask(15)).toMatchObject({ outcome: 'charged' })
    expect(left(pool)).toEqual([4])
    expect(ask(5)).toBeInstanceOf(Promise)
    await pool.close()
  })

  it('is not where their windows are not the same', async () => {
    const { site, pool, ask } = await withTwoLeases()
    site.close()
    site.nowMs++
    await ask(100)
    const all = left(pool)
    expect(all.at(-1)).toBeGreaterThan(0)
    expect(ask(all.reduce((sum, tokens) => sum + tokens))).toBeInstanceOf(Promise)
    expect(left(pool)).toEqual(all)
    await pool.close()
  })
})
