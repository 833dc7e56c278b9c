import { Child } from './child.ts'
import type { Rate } from './report.ts'
import { type Contestant, interleave, type RoundOptions } from './rounds.ts'

/** How many processes share one server. */
const PROCESSES = 4

/** The options of each process in a fleet. */
export interface FleetOptions {
  readonly kind: 'redis' | 'postgres'
  /** The port, or the connection strings of the contestants' databases in order. */
  readonly address: string
  /** Callers per process. */
  readonly callers: number
}

/** A turn of a process: its callers use one contestant for a while. */
export interface Turn {
  readonly contestant: number
  readonly durationMs: number
}

/** The rate, or the error. */
export type TurnAnswer = { readonly perSecond: number } | { readonly error: string }

/** Several processes on one server. All use the same contestant at the same time, and their rates are added. */
export async function fleetOf(options: FleetOptions, rounds: RoundOptions): Promise<Rate[]> {
  const members = Array.from({ length: PROCESSES }, () => new Child('fleet-process.ts', [JSON.stringify(options)]))
  try {
    const [names = []] = await Promise.all(members.map((member) => member.next<readonly string[]>()))
    const contestants = names.map(
      (name, contestant): Contestant => ({
        name: `${name}, ${PROCESSES} x ${options.callers} callers`,
        async perSecondOver(durationMs) {
          const rates = await Promise.all(members.map((member) => rateOf(member, { contestant, durationMs })))
          return rates.reduce((sum, rate) => sum + rate, 0)
        },
      }),
    )
    return await interleave(contestants, rounds)
  } finally {
    for (const member of members) member.stop()
  }
}

async function rateOf(member: Child, turn: Turn): Promise<number> {
  const answer = await member.answerTo<TurnAnswer>(turn)
  if ('error' in answer) throw new Error(answer.error)
  return answer.perSecond
}
