import { resultFrom } from '../child.ts'
import { progress } from '../print.ts'
import { atLeast, atMost, type Findings, type Rate, resultOf } from '../report.ts'
import { median, ratioOf } from '../rounds.ts'
import { HOLDS, ORDINARY, USUAL } from '../traffic/ordinary.ts'
import type { Traffic } from '../traffic/traffic.ts'
import { growths, heapUses } from './heap.ts'
import { nameOf } from './ordinary.ts'
import { FLOODS, OURS } from './ours.ts'
import { description } from './users.ts'

/** Why goals are missed. */
const BECAUSE: Readonly<Record<string, string>> = {
  [OURS.admitted]:
    'the rest is the decision itself: its object, the check of the request, settings looked up; a straight path to the constructor, fewer members and fewer boxed numbers gained nothing',
  [OURS.refused]: 'as above',
  [OURS.awaited]: 'within the spread of the two',
  [FLOODS.unseen]: 'a row and its place in the table are made, and collected as garbage when the table is gone',
  [FLOODS.ids]:
    'a Map alone that keeps such a record for each id costs more than two usual decisions, most of it garbage collection',
}

/** Decisions in memory with six counters each, and the bytes per user. */
export async function memory(quick: boolean): Promise<Findings> {
  console.log(`memory: six counters a decision, ${description}, one process`)
  const processes: Rate[][] = []
  const ordinaries: Rate[][] = []
  const count = quick ? 1 : 12
  const size = quick ? ([1, 2, 5] as const) : ([7, 40, 300] as const)
  for (let index = 0; index < count; index++) {
    progress(`process ${index + 1} of ${count}`)
    processes.push(await ratesOfAProcess(size))
    ordinaries.push(await ordinaryRates(size))
  }
  progress('heap')
  const heap = await heapUses(quick ? 2_000 : 300_000)
  progress('growth')
  const growth = await growths(quick ? 20_000 : 5_000_000)
  const [results, ordinary] = [overProcesses(processes), overProcesses(ordinaries)]
  const targets = quick ? [] : [...targetsOf(results, heap), ...ordinaryTargets(ordinary)]
  return { results, ordinary, heap, growth, targets }
}

type Size = readonly [rounds: number, roundMs: number, warmUpMs: number]

/** Rates of a separate process. Each process inlines calls differently, which changes the figures. */
function ratesOfAProcess(size: Size, ...traffic: readonly string[]): Promise<Rate[]> {
  return resultFrom('memory-process.ts', [...size.map(String), ...traffic])
}

/** The floor and one ordinary policy per process, since most services have only one. */
async function ordinaryRates(size: Size): Promise<Rate[]> {
  const rates: Rate[] = []
  for (const traffic of ORDINARY) {
    const [floor, own] = (await ratesOfAProcess(size, traffic.name)) as [Rate, Rate]
    rates.push(...(rates.length === 0 ? [floor, own] : [own]))
  }
  return rates
}

/** The median of the processes, and their spread. */
function overProcesses(processes: readonly (readonly Rate[])[]): Rate[] {
  const names = processes[0]?.map(({ name }) => name) ?? []
  return names.map((name) => {
    const rates = processes.map((process) => resultOf(process, name))
    const perSecond = median(rates.map((rate) => rate.perSecond))
    return { name, perSecond, ...ratioOf(rates.map(({ ratio }) => ratio)) }
  })
}

function targetsOf(results: readonly Rate[], heap: Findings['heap'] = []): Findings['targets'] {
  const ratio = (name: string): number => resultOf(results, name).ratio
  const kept = resultOf(heap, 'quota: memoryStore, one category')
  const floods = Object.values(FLOODS).map((name) => {
    return atLeast(`${name}, of the usual`, 0.5, ratio(name) / ratio(OURS.admitted), BECAUSE[name])
  })
  const flexible = ratio(OURS.awaited) / ratio('rate-limiter-flexible: one limit')
  return [
    atLeast('consumeSync, of the floor', 0.65, ratio(OURS.admitted), BECAUSE[OURS.admitted]),
    atLeast('consumeSync, refused, of the floor', 1, ratio(OURS.refused), BECAUSE[OURS.refused]),
    atLeast('await consume, of one limit of rate-limiter-flexible', 1, flexible, BECAUSE[OURS.awaited]),
    ...floods,
    atMost('bytes per user beside the key', 100, kept.besideKeyBytes),
  ]
}

/** How much more a counter costs in the slowest policy than in the usual one, and the cost of a hold. */
function ordinaryTargets(ordinary: readonly Rate[]): Findings['targets'] {
  const perCounter = (traffic: Traffic): number => 1 / resultOf(ordinary, nameOf(traffic)).ratio / traffic.counters
  const decisions = ORDINARY.filter(({ call }) => call !== 'hold')
  const slowest = Math.max(...decisions.map(perCounter))
  const holdUs = 1e6 / resultOf(ordinary, nameOf(HOLDS)).perSecond
  return [
    atMost('time a counter, slowest ordinary policy, of two layers', 1.6, slowest / perCounter(USUAL)),
    atMost('microseconds of a hold and its end', 4, holdUs),
  ]
}
