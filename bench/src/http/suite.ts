import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { progress } from '../progress.ts'
import { atLeast, type Findings, type Rate, resultOf, type Target } from '../report.ts'
import { garbageCollector, quantile } from '../rounds.ts'
import { CONTESTANTS, type ContestantName, FRAMEWORKS } from './apps.ts'
import { BECAUSE } from './because.ts'
import { Connections } from './connections.ts'

const CONNECTIONS = 32
const USERS = 1_000

/** How much is measured of one framework. */
interface Size {
  /** How often its apps are restarted: the compiler's inlining differs between processes. */
  readonly sittings: number
  readonly rounds: number
  /** Turns of each app in a round, side by side; a round has one ratio. */
  readonly turns: number
  /** Requests over each connection in a turn. */
  readonly each: number
  /** The same before anything is measured. */
  readonly warmUp: number
}

const SIZE: Size = { sittings: 3, rounds: 6, turns: 10, each: 20, warmUp: 500 }
const QUICK: Size = { sittings: 1, rounds: 1, turns: 1, each: 5, warmUp: 5 }

/**
 * Requests that a framework answers in a second of its process' processor time, each app in a process of its own and the
 * load from this one. The wall's clock says little where both share processors, and a turn of some 20 ms meets the same
 * neighbours as the next one: many short turns side by side are one round.
 */
export async function http(quick: boolean): Promise<Findings> {
  console.log(`http: ${CONNECTIONS} connections, ${USERS} users; requests a second of the server's processor time`)
  const found: { readonly results: Rate[]; readonly targets: Target[] } = { results: [], targets: [] }
  const frameworks = Object.keys(FRAMEWORKS)
  // Whether the suite runs is seen by one of them.
  for (const framework of quick ? frameworks.slice(0, 1) : frameworks) {
    const results = await measured(framework, quick ? CONTESTANTS.slice(0, 2) : CONTESTANTS, quick ? QUICK : SIZE)
    found.results.push(...results)
    if (!quick) found.targets.push(...targetsOf(framework, results))
  }
  return found
}

async function measured(framework: string, names: readonly ContestantName[], size: Size): Promise<Rate[]> {
  const cpuUs = names.map((): number[] => [])
  for (let sitting = 0; sitting < size.sittings; sitting++) {
    progress(`${framework}, processes ${sitting + 1} of ${size.sittings}`)
    const served = await Promise.all(names.map((name) => Served.start(framework, name)))
    try {
      for (const each of served) await each.ask(size.warmUp)
      for (let round = 0; round < size.rounds; round++) {
        for (const [index, total] of (await roundOf(served, size)).entries()) cpuUs[index]?.push(total)
      }
    } finally {
      for (const each of served) each.stop()
    }
  }
  const requests = size.turns * size.each * CONNECTIONS
  return names.map((name, index) => {
    const own = cpuUs[index] ?? []
    const ratios = own.map((us, round) => (cpuUs[0]?.[round] ?? Number.NaN) / us)
    const perSecond = (requests * 1_000_000) / quantile(own, 0.5)
    const spread = [quantile(ratios, 0.1), quantile(ratios, 0.9)] as const
    return { name: nameOf(framework, name), perSecond, ratio: quantile(ratios, 0.5), spread }
  })
}

/** Microseconds of each app's processor in the turns of a round, garbage collection included. */
async function roundOf(served: readonly Served[], { turns, each }: Size): Promise<number[]> {
  const totals = served.map(() => 0)
  collectGarbage()
  for (let turn = 0; turn < turns; turn++) {
    for (let place = 0; place < served.length; place++) {
      const index = (turn + place) % served.length
      totals[index] = (totals[index] ?? Number.NaN) + ((await served[index]?.cpuUsOf(each)) ?? Number.NaN)
    }
  }
  return totals
}

const collectGarbage = garbageCollector()

/** With the fields as they are by default, of bare. */
const GOALS: Readonly<Record<string, number>> = { Express: 0.9, Fastify: 0.84, Hono: 0.82 }

function targetsOf(framework: string, results: readonly Rate[]): Target[] {
  const ratioOf = (name: ContestantName): number => resultOf(results, nameOf(framework, name)).ratio
  const withFields = ratioOf('quota, draft-10 fields')
  const limiter = ratioOf('its own limiter, one limit')
  const because = BECAUSE[framework]
  return [
    atLeast(`${framework}, draft-10 fields, of bare`, GOALS[framework] ?? 1, withFields, because?.fields),
    atLeast(`${framework}, no fields, of bare`, 0.93, ratioOf('quota, no fields'), because?.metering),
    atLeast(`${framework}, draft-10 fields, of its own limiter`, 1, withFields / limiter, because?.limiter),
  ]
}

function nameOf(framework: string, name: ContestantName): string {
  return `${framework}: ${name}`
}

/** An app in a process of its own, and the connections to it. */
class Served {
  readonly #child: ChildProcess
  readonly #connections: Connections

  private constructor(child: ChildProcess, connections: Connections) {
    this.#child = child
    this.#connections = connections
  }

  static async start(framework: string, name: ContestantName): Promise<Served> {
    const child = fork(new URL('../http-process.ts', import.meta.url), [framework, name], {
      execArgv: process.execArgv,
    })
    const [port] = (await once(child, 'message')) as [number]
    return new Served(child, await Connections.to(port, CONNECTIONS, USERS))
  }

  /** Asks so many requests over each connection. */
  ask(each: number): Promise<void> {
    return this.#connections.ask(each)
  }

  /** Microseconds of its processor that so many requests over each connection took. */
  async cpuUsOf(each: number): Promise<number> {
    const before = await this.#cpuUs()
    await this.ask(each)
    return (await this.#cpuUs()) - before
  }

  stop(): void {
    this.#connections.close()
    this.#child.disconnect()
  }

  async #cpuUs(): Promise<number> {
    const answer = once(this.#child, 'message')
    this.#child.send('cpu')
    const [cpuUs] = (await answer) as [number]
    return cpuUs
  }
}
