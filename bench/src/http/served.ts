import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { progress } from '../progress.ts'
import { garbageCollector } from '../rounds.ts'
import { Connections, type Load } from './connections.ts'

export const CONNECTIONS = 32

/** How much is measured of one framework. */
export interface Size {
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

/** An app to measure, and what it is sent. */
export interface Measured {
  readonly name: string
  readonly load: Load
}

/**
 * Processor time of each app in each round, in microseconds a request: apps in processes of their own, in turn.
 *
 * @param suite of the apps, for `http-process.ts`
 */
export async function cpuOfRounds(
  suite: string,
  framework: string,
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

/** An app in a process of its own, and the connections to it. */
class Served {
  readonly #child: ChildProcess
  readonly #connections: Connections

  private constructor(child: ChildProcess, connections: Connections) {
    this.#child = child
    this.#connections = connections
  }

  static async start(suite: string, framework: string, { name, load }: Measured): Promise<Served> {
    const child = fork(new URL('../http-process.ts', import.meta.url), [suite, framework, name], {
      execArgv: process.execArgv,
    })
    const [port] = (await once(child, 'message')) as [number]
    return new Served(child, await Connections.to(port, CONNECTIONS, load))
  }

  /** Asks so many requests over each connection, however they are answered. */
  async warmUp(each: number): Promise<void> {
    await this.#connections.ask(each, { anyStatus: true })
  }

  /** Microseconds of its processor that so many requests over each connection took. */
  async cpuUsOf(each: number): Promise<number> {
    const before = await this.#cpuUs()
    await this.#connections.ask(each)
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
