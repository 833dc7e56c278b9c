import { Child } from '../child.ts'
import { progress } from '../print.ts'
import { garbageCollector } from '../rounds.ts'
import { Connections, type Load } from './connections.ts'

export const CONNECTIONS = 32

/** How much is measured per framework. */
export interface Size {
  /** How often its apps are restarted, since the compiler inlines differently in each process. */
  readonly sittings: number
  readonly rounds: number
  /** Turns of each app per round, alternating. A round has one ratio. */
  readonly turns: number
  /** Requests over each connection in a turn. */
  readonly each: number
  /** The same before the measurement. */
  readonly warmUp: number
}

/** An app to measure, and its load. */
export interface Measured {
  readonly name: string
  readonly load: Load
}

/**
 * Processor time of each app in each round, in microseconds per request. The apps run in separate processes and take
 * turns.
 *
 * @param suite of the apps, for `http-process.ts`
 */
export async function cpuOfRounds(
  { suite, framework }: { readonly suite: string; readonly framework: string },
  apps: readonly Measured[],
  size: Size,
): Promise<number[][]> {
  const cpuUs = apps.map((): number[] => [])
  const requests = size.turns * size.each * CONNECTIONS
  for (let sitting = 0; sitting < size.sittings; sitting++) {
    progress(`${framework}, processes ${sitting + 1} of ${size.sittings}`)
    const served = await Promise.all(apps.map((app) => Served.start(suite, framework, app)))
    try {
      for (const each of served) await each.warmUp(size.warmUp)
      for (let round = 0; round < size.rounds; round++) {
        for (const [index, total] of (await roundOf(served, size)).entries()) cpuUs[index]?.push(total / requests)
      }
    } finally {
      for (const each of served) each.stop()
    }
  }
  return cpuUs
}

/** Each app's processor time in the turns of a round, in microseconds, including garbage collection. */
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

/** An app in a separate process, and the connections to it. */
class Served {
  readonly #child: Child
  readonly #connections: Connections

  private constructor(child: Child, connections: Connections) {
    this.#child = child
    this.#connections = connections
  }

  static async start(suite: string, framework: string, { name, load }: Measured): Promise<Served> {
    const child = new Child('http-process.ts', [suite, framework, name])
    const port = await child.next<number>()
    return new Served(child, new Connections(port, CONNECTIONS, load))
  }

  /** Sends so many requests over each connection, and ignores their status. */
  async warmUp(each: number): Promise<void> {
    await this.#connections.ask(each, { anyStatus: true })
  }

  /** The processor time of so many requests over each connection, in microseconds. */
  async cpuUsOf(each: number): Promise<number> {
    const before = await this.#cpuUs()
    await this.#connections.ask(each)
    return (await this.#cpuUs()) - before
  }

  stop(): void {
    this.#connections.close()
    this.#child.stop()
  }

  #cpuUs(): Promise<number> {
    return this.#child.answerTo('cpu')
  }
}
