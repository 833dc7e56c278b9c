import { cellsIn, layoutOf, windowCell } from '@scoregw/quota/internal'
import { uniform } from '@scoregw/quota-histories'
import { testSeed } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { LeaseCounts } from '../../src/leases/lease-report.ts'
import { SharedPool } from '../../src/leases/shared-pool.ts'
import { randomOf } from '../support/random.ts'
import { SimulatedSite } from './simulated-site.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'

interface Size {
  readonly processes: number
  readonly crashes: number
  readonly limit: number
  /** Tokens that a request costs at the most; it costs half of that on average. */
  readonly mostCost: number
  /** After about so long the site has nothing left, in milliseconds of virtual time. */
  readonly lastsMs: number
}

const SIZES: readonly Size[] = [
  { processes: 1, crashes: 0, limit: 200_000, mostCost: 20, lastsMs: 5_000 },
  { processes: 50, crashes: 10, limit: 2_000_000, mostCost: 40, lastsMs: 10_000 },
  ...(deep ? [{ processes: 1_000, crashes: 100, limit: 10 ** 9, mostCost: 200, lastsMs: 60_000 }] : []),
]

const TICK_MS = 50
const LENGTHS_MS = [3_600_000, 18_000_000, 86_400_000]
const SITE = uniform(
  ['tokens'],
  cellsIn(
    ['tokens'],
    LENGTHS_MS.map((lengthMs) => windowCell({ label: `${lengthMs}`, lengthMs })),
  ),
  [{ name: 'site', shared: true }],
)

interface Member {
  readonly name: string
  readonly pool: SharedPool
  /** Requests a tick. */
  readonly demand: number
  /** When it crashes, in epoch milliseconds. */
  readonly crashesAtMs: number
}

interface Result {
  readonly site: SimulatedSite
  readonly admitted: number
  readonly requests: number
  readonly virtualMs: number
  /** Tokens that crashed processes took with them. */
  readonly lost: number
}

function poolOn(site: SimulatedSite, name: string): SharedPool {
  let leases = 0
  return new SharedPool({
    calls: site.callsOf(name),
    layers: [0],
    layout: layoutOf(SITE),
    units: 1,
    newLeaseId: () => `${name}:${leases++}`,
    moment: () => site.moment,
    timeAfter: () => site.nowMs,
    counts: new LeaseCounts(),
    refund: async (starts, tokens) => site.refund(starts, tokens),
  })
}

/** Processes of uneven demand use up a site together, while some of them crash; until nobody was served for a while. */
async function simulate({ processes, crashes, limit, mostCost, lastsMs }: Size, seed: number): Promise<Result> {
  const random = randomOf(seed)
  const startMs = 1_790_000_000_000
  const site = new SimulatedSite(LENGTHS_MS, startMs)
  const ticks = lastsMs / TICK_MS
  const perTick = limit / (mostCost / 2) / ticks / processes
  const all = Array.from({ length: processes }, (_, index): Member => {
    const name = `p${index}`
    const crashesAtMs = index < crashes ? startMs + Math.floor(random() * lastsMs) : Number.POSITIVE_INFINITY
    return { name, pool: poolOn(site, name), demand: perTick * 2 * random(), crashesAtMs }
  })
  let living = all
  let [admitted, requests, lost, servedAtMs] = [0, 0, 0, startMs]
  const limits = LENGTHS_MS.map(() => limit)
  const ask = ({ pool }: Member): Promise<void> | undefined => {
    requests++
    const cost = 1 + Math.floor(random() * mostCost)
    const count = (outcome: string): void => {
      if (outcome !== 'charged') return
      admitted += cost
      servedAtMs = site.nowMs
    }
    const answer = pool.take({ costs: [cost], limits, settingsRevision: undefined, periods: undefined, mayOpen: true })
    if (answer instanceof Promise) return answer.then(({ outcome }) => count(outcome))
    count(answer.outcome)
    return undefined
  }
  while (site.nowMs - servedAtMs < 4_000) {
    const pending: (Promise<void> | undefined)[] = []
    for (const member of living) {
      for (let due = member.demand; due > random(); due--) pending.push(ask(member))
    }
    await Promise.all(pending)
    site.nowMs += TICK_MS
    for (const { pool, crashesAtMs } of living) {
      if (crashesAtMs > site.nowMs) continue
      lost += pool.leases.reduce((sum, { amounts }) => sum + amounts[0]!, 0)
      // Nor does a timer of it give anything back.
      pool.forget()
    }
    living = living.filter(({ crashesAtMs }) => crashesAtMs > site.nowMs)
  }
  return { site, admitted, requests, virtualMs: site.nowMs - startMs, lost }
}

describe('a site that many processes share, on a virtual clock', () => {
  it.each(SIZES)(
    '$processes processes of which $crashes crash stay within the bound of $limit tokens',
    { timeout: 600_000 },
    async (size) => {
      const { site, admitted, requests, virtualMs, lost } = await simulate(size, testSeed)
      const tail = Math.max(0, ...site.lastLeases.values())
      const { processes, crashes, limit, mostCost } = size
      const least = limit - processes * tail - crashes * site.largestLease - mostCost
      const figures = `seed ${testSeed}: ${JSON.stringify({ ...size, admitted, unused: limit - admitted, lost, least, tail, largestLease: site.largestLease, grants: site.grants, requests, virtualMs })}`
      if (deep) console.log(figures)
      expect(admitted, figures).toBeLessThanOrEqual(limit)
      expect(admitted, figures).toBeGreaterThanOrEqual(least)
      // Unused are only the tokens of crashed processes, and less than a request: live processes give theirs back.
      expect(admitted, figures).toBeGreaterThan(limit - lost - mostCost)
      expect(admitted, figures).toBeLessThanOrEqual(limit - lost)
      expect(site.grants, figures).toBeLessThan(requests / 2)
    },
  )
})
