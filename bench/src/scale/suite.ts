import { Child } from '../processes/child.ts'
import { progress } from '../progress.ts'
import { atLeast, atMost, type CallCost, type Findings, resultOf, type SimulatedLoad } from '../report.ts'
import { read } from '../results.ts'

/** It is with the store's tests, because it runs internal parts of the store. */
const SIMULATION = '../../packages/quota-redis/test/scale/report.ts'

/** The site server's cost of a grant, and per process with leases, in microseconds, measured on a cluster. */
const GRANT = { grantUs: 375, grantProcessUs: 16 }
/** One way between machines in one data center, kernels included. */
const NETWORK_US = 100

const MILLION = 'twelve primaries, leased'

/** Why the goal is missed. */
const BECAUSE =
  'grants of all processes are the work of the one server that has the site, besides its share of the subjects'

type Message = { readonly progress: string } | { readonly loads: readonly SimulatedLoad[] }

/**
 * The resources for a million decisions per second: the store's own code for leases, batching and spreading on a
 * virtual clock, with call costs measured by the suite `redis`.
 */
export async function scale(quick: boolean): Promise<Findings> {
  const measured = read('redis')?.calls
  if (measured === undefined) throw new Error('the costs of calls come from the results of `redis`: measure that first')
  console.log('scale: requests that come independently of each other, simulated with the measured costs of calls')
  const loads = await simulated({ costs: { ...costsOf(measured), ...GRANT, networkUs: NETWORK_US }, quick })
  const million = resultOf(loads, MILLION)
  return {
    results: [],
    loads,
    targets: [
      atLeast('decisions a second, of a million asked for', 990_000, million.admittedPerSecond),
      atMost('milliseconds until 99 of 100 are decided, at a million a second', 10, million.p99Ms, BECAUSE),
      atMost('share of its time that the busiest process works', 0.8, million.busiestProcess),
    ],
  }
}

async function simulated(order: { costs: object; quick: boolean }): Promise<readonly SimulatedLoad[]> {
  const child = new Child(SIMULATION)
  let message = await child.answerTo<Message>({ costs: order.costs, seconds: order.quick ? 0.01 : 2 })
  while (!('loads' in message)) {
    progress(message.progress)
    message = await child.next()
  }
  return message.loads
}

/** The fixed cost of a call and the cost per decision: the line through the measured loads. */
function costsOf(
  calls: readonly CallCost[],
): Readonly<Record<'serverCallUs' | 'serverDecisionUs' | 'nodeCallUs' | 'nodeDecisionUs', number>> {
  const sorted = calls.toSorted((a, b) => a.decisions - b.decisions)
  const [few, many] = [sorted[0], sorted.at(-1)]
  if (few === undefined || many === undefined || many.decisions < 2 * few.decisions) {
    throw new Error('two loads with calls of different sizes are needed: measure `redis` again')
  }
  const perDecision = (of: 'serverUs' | 'nodeUs'): number => (many[of] - few[of]) / (many.decisions - few.decisions)
  const [serverDecisionUs, nodeDecisionUs] = [perDecision('serverUs'), perDecision('nodeUs')]
  return {
    serverDecisionUs,
    nodeDecisionUs,
    serverCallUs: Math.max(0, few.serverUs - few.decisions * serverDecisionUs),
    nodeCallUs: Math.max(0, few.nodeUs - few.decisions * nodeDecisionUs),
  }
}
