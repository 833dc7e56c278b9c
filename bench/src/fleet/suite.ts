import { Child } from '../child.ts'
import { progress } from '../print.ts'
import { atMost, type Findings, type FleetUse } from '../report.ts'
import { inTurn, median, ratioOf } from '../rounds.ts'
import type { Backend, Done, SharedServer, Turn } from './backend.ts'
import { BACKENDS } from './backends.ts'

const PROCESSES = 24
/** Each process warms up by many decisions, since it has little of a processor's time in a turn. */
const SIZE = { processes: PROCESSES, rounds: 7, turnMs: 1_000, warmUp: 3_000 }
const QUICK = { processes: 2, rounds: 1, turnMs: 20, warmUp: 10 }

/** What one decision cost in a round, in microseconds. */
interface Cost {
  readonly serverUs: number
  readonly nodeUs: number
}

/** Costs by limiter, one per round. */
type Costs = ReadonlyMap<string, readonly Cost[]>

/** Many processes with one call in flight each, on one server: processor time of the server and of the processes. */
export async function fleet(quick: boolean): Promise<Findings> {
  const size = quick ? QUICK : SIZE
  console.log(`fleet: ${size.processes} processes on one server, each with one call in flight; processor time`)
  const uses: FleetUse[] = []
  const targets: Findings['targets'][number][] = []
  for (const [name, backend] of Object.entries(BACKENDS)) {
    const costs = await costsOn(name, backend, size)
    uses.push(...usesOf(name, costs))
    if (quick) continue
    for (const { name: what, most, of, cost } of backend.goals) {
      targets.push(atMost(`${name}: ${what}`, most, against(costs, ...of)[cost]))
    }
  }
  return { results: [], fleet: uses, targets }
}

async function costsOn(name: string, backend: Backend, size: typeof SIZE): Promise<Costs> {
  const server = await backend.start()
  const members: Child[] = []
  try {
    for (let n = 0; n < size.processes; n++) members.push(new Child('fleet/member.ts', [name, server.address]))
    await Promise.all(members.map((member) => member.next()))
    const names = Object.keys(backend.limiters)
    for (const each of names) {
      progress(`${name}, ${each}`)
      await turn(server, members, { name: each, decisions: size.warmUp })
    }
    const turns = { what: name, names, rounds: size.rounds }
    return new Map(await inTurn(turns, (each) => turn(server, members, { name: each, durationMs: size.turnMs })))
  } finally {
    for (const member of members) member.stop()
    await Promise.all(members.map((member) => member.ended()))
    await server.stop()
  }
}

async function turn(server: SharedServer, members: readonly Child[], what: Turn): Promise<Cost> {
  const before = await server.cpuUs()
  const done = await Promise.all(members.map((member) => member.answerTo<Done>(what)))
  const serverUs = (await server.cpuUs()) - before
  let [decisions, nodeUs] = [0, 0]
  for (const each of done) {
    if ('error' in each) throw new Error(each.error)
    decisions += each.decisions
    nodeUs += each.nodeUs
  }
  return { serverUs: serverUs / decisions, nodeUs: nodeUs / decisions }
}

function usesOf(server: string, costs: Costs): FleetUse[] {
  const [first = ''] = costs.keys()
  return [...costs].map(([name, rounds]) => {
    const ratios = against(costs, name, first)
    return {
      ...{ server, name, serverUs: median(rounds.map(({ serverUs }) => serverUs)) },
      ...{ nodeUs: median(rounds.map(({ nodeUs }) => nodeUs)), serverRatio: ratios.server, nodeRatio: ratios.node },
    }
  })
}

/** One limiter's cost as a multiple of another's: the median of the rounds. */
function against(costs: Costs, name: string, other: string): { readonly server: number; readonly node: number } {
  const [ours, theirs] = [costs.get(name) ?? [], costs.get(other) ?? []]
  const ratio = (of: keyof Cost): number =>
    ratioOf(ours.map((cost, round) => cost[of] / (theirs[round]?.[of] ?? Number.NaN))).ratio
  return { server: ratio('serverUs'), node: ratio('nodeUs') }
}
