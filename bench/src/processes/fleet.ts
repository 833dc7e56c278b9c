import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Rate } from '../report.ts'
import { type Contestant, interleave, type RoundOptions } from '../rounds.ts'

/** Processes that share one server. */
const PROCESSES = 4

/** What each process of a fleet is started with. */
export interface FleetOptions {
  readonly kind: 'redis' | 'postgres'
  /** The port, or the connection strings of each contestant's database by its place. */
  readonly address: string
  /** In each process. */
  readonly callers: number
}

/** What a process is to do: let its callers work through one contestant for a while. */
export interface Turn {
  readonly contestant: number
  readonly durationMs: number
}

/** How fast it was, or what went wrong. */
export type TurnAnswer = { readonly perSecond: number } | { readonly error: string }

/** Several processes on one server: all work through the same contestant at the same time, and their rates add up. */
export async function fleetOf(options: FleetOptions, rounds: RoundOptions): Promise<Rate[]> {
  const members = Array.from({ length: PROCESSES }, () => new Member(options))
  try {
    const [names = []] = await Promise.all(members.map((member) => member.next<readonly string[]>()))
    const contestants = names.map(
      (name, contestant): Contestant => ({
        name: `${name}, ${PROCESSES} x ${options.callers} callers`,
        async perSecondOver(durationMs) {
          const rates = await Promise.all(members.map((member) => member.turn({ contestant, durationMs })))
          return rates.reduce((sum, rate) => sum + rate, 0)
        },
      }),
    )
    return await interleave(contestants, rounds)
  } finally {
    for (const member of members) member.stop()
  }
}

class Member {
  readonly #process: ChildProcess
  readonly #ended: Promise<never>

  constructor(options: FleetOptions) {
    this.#process = fork(new URL('../fleet-process.ts', import.meta.url), [JSON.stringify(options)], {
      execArgv: process.execArgv,
    })
    this.#ended = once(this.#process, 'exit').then(([code]) => {
      throw new Error(`a process of the fleet ended with ${code}`)
    })
    this.#ended.catch(() => undefined)
  }

  /** Resolves to what the process sends next. */
  async next<T>(): Promise<T> {
    const [message] = (await Promise.race([once(this.#process, 'message'), this.#ended])) as [T]
    return message
  }

  /** Resolves to the rate of a turn. */
  async turn(turn: Turn): Promise<number> {
    const answered = this.next<TurnAnswer>()
    this.#process.send(turn)
    const answer = await answered
    if ('error' in answer) throw new Error(answer.error)
    return answer.perSecond
  }

  stop(): void {
    if (this.#process.connected) this.#process.disconnect()
  }
}
