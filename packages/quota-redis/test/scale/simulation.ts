import { cellsIn, Layout, windowCell } from '@scoregw/quota/store'
import { GROUPS } from '../../src/leases/groups.ts'
import type { Moment } from '../../src/leases/lease.ts'
import { LeaseCounts } from '../../src/leases/lease-report.ts'
import type { GrantReply } from '../../src/leases/shared-calls.ts'
import { SharedPool, type SharedPoolDeps } from '../../src/leases/shared-pool.ts'
import { SimulatedSite } from '../leases/simulated-site.ts'
import { randomOf } from '../support/random.ts'
import { Asker } from './asker.ts'
import type { Costs } from './costs.ts'
import { Processor, Waits } from './machines.ts'
import { Timeline } from './timeline.ts'

const START_MS = 1_790_000_000_000
const LENGTHS_MS = [3_600_000, 18_000_000, 86_400_000]
const LAYOUT = new Layout(
  cellsIn(
    ['tokens'],
    LENGTHS_MS.map((lengthMs) => windowCell({ label: `${lengthMs}`, lengthMs })),
  ),
)

export interface Load {
  readonly perSecond: number
  readonly processes: number
  /** Servers with groups of subjects; with one alone every row is there, the site's as well, and nothing is leased. */
  readonly primaries: number
  readonly seconds: number
  /** Tokens of the site, one a request. */
  readonly limit: number
  readonly seed: number
}

export interface Outcome {
  readonly admittedPerSecond: number
  readonly refused: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Shares of their time that the busiest worked. */
  readonly busiestPrimary: number
  readonly busiestProcess: number
  readonly decisionsACall: number
  readonly grantsPerSecond: number
}

/** Before this nothing is counted: windows open, first leases are granted. */
const WARM_UP_US = 300_000

/**
 * So many requests a second, decided by the store's own code for leases, for gathering what goes out together and for
 * spreading subjects, on a virtual clock; processors and network take the time that was measured of them.
 */
export async function simulate(load: Load, costs: Costs): Promise<Outcome> {
  const { processes, primaries, perSecond, limit, seconds, seed } = load
  const timeline = new Timeline()
  const servers = Array.from({ length: primaries }, () => new Processor())
  const site = new SimulatedSite(LENGTHS_MS, START_MS)
  const counted = { waits: new Waits(), admitted: 0, refused: 0, calls: 0, decisions: 0 }
  const isLeased = primaries > 1
  const askers = Array.from({ length: processes }, (_, index) => {
    const name = `p${index}`
    const calls = siteCalls(name, { timeline, site, server: servers[0]!, costs, processes })
    const pool = isLeased ? new SharedPool({ ...poolParts(timeline, site), calls, newLeaseId: ids(name) }) : undefined
    const random = randomOf(seed + index)
    const perProcess = perSecond / processes
    const limits = LENGTHS_MS.map(() => limit)
    return new Asker({ timeline, costs, random, perSecond: perProcess, pool, limits, servers, counted, groups: GROUPS })
  })
  const endUs = WARM_UP_US + seconds * 1e6
  for (const asker of askers) asker.start(endUs)
  await run(timeline, askers, WARM_UP_US)
  const [grants, processors] = [site.grants, [...servers, ...askers.map(({ processor }) => processor)]]
  for (const processor of processors) processor.busyUs = 0
  Object.assign(counted, { waits: new Waits(), admitted: 0, refused: 0, calls: 0, decisions: 0 })
  await run(timeline, askers, endUs)
  const busiest = (of: readonly Processor[]): number => Math.max(...of.map(({ busyUs }) => busyUs)) / (seconds * 1e6)
  return {
    admittedPerSecond: counted.admitted / seconds,
    refused: counted.refused,
    p50Ms: counted.waits.quantileMs(0.5),
    p99Ms: counted.waits.quantileMs(0.99),
    busiestPrimary: busiest(servers),
    busiestProcess: busiest(askers.map(({ processor }) => processor)),
    decisionsACall: counted.decisions / counted.calls,
    grantsPerSecond: (site.grants - grants) / seconds,
  }
}

/** The store's code waits by promises and `setImmediate`: they are let through before the clock goes on. */
async function run(timeline: Timeline, askers: readonly Asker[], untilUs: number): Promise<void> {
  while (timeline.next(untilUs)) {
    await Promise.resolve()
    while (askers.some((asker) => asker.takesTurns())) await new Promise((resolve) => setImmediate(resolve))
  }
}

function ids(name: string): () => string {
  let count = 0
  return () => `${name}:${count++}`
}

function momentOf({ nowUs }: Timeline): Moment {
  return { steadyMs: nowUs / 1000, wallMs: START_MS + nowUs / 1000 }
}

function poolParts(timeline: Timeline, site: SimulatedSite): Omit<SharedPoolDeps, 'calls' | 'newLeaseId'> {
  return {
    at: { category: 0, layers: [0] },
    layout: LAYOUT,
    units: 1,
    moment: () => momentOf(timeline),
    timeAfter: () => START_MS + Math.floor(timeline.nowUs / 1000),
    counts: new LeaseCounts(),
    refund: async (starts, tokens) => site.refund(starts, tokens),
  }
}

interface SiteAt {
  readonly timeline: Timeline
  readonly site: SimulatedSite
  readonly server: Processor
  readonly costs: Costs
  readonly processes: number
}

/** The site's script at the end of a network, behind whatever its server has to do; replicas hear before the answer. */
function siteCalls(name: string, { timeline, site, server, costs, processes }: SiteAt): SharedPoolDeps['calls'] {
  const { grantUs, grantProcessUs, networkUs } = costs
  const calls = site.callsOf(name)
  const answered = <T>(ask: () => Promise<T>, replicas: number): Promise<T> =>
    new Promise((resolve, reject) => {
      timeline.at(timeline.nowUs + networkUs, () => {
        const doneUs = server.work(timeline.nowUs, grantUs + grantProcessUs * processes)
        timeline.at(doneUs, () => {
          site.nowMs = START_MS + Math.floor(timeline.nowUs / 1000)
          const answer = ask()
          timeline.at(timeline.nowUs + (1 + 2 * replicas) * networkUs, () => answer.then(resolve, reject))
        })
      })
    })
  return {
    grant: (at, request) => {
      const sentAt = momentOf(timeline)
      return answered(() => calls.grant(at, request), 1).then((reply): GrantReply => ({ ...reply, sentAt }))
    },
    refund: (at, grant, amounts) => answered(() => calls.refund(at, grant, amounts), 0),
  }
}
