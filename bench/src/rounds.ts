import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { progress } from './print.ts'
import type { Rate } from './report.ts'

/** Something to measure and compare. */
export interface Contestant {
  readonly name: string
  /** Works for about so many milliseconds. Resolves to its rate per second. */
  perSecondOver(durationMs: number): Promise<number>
}

export interface RoundOptions {
  readonly rounds: number
  /** How long each contestant works per round, in milliseconds. */
  readonly roundMs: number
  /** How long each works before the first round, in milliseconds. */
  readonly warmUpMs: number
  /** Whether garbage is collected before each turn, so that no contestant pays for another's. @default true */
  readonly collectsGarbage?: boolean
}

/** Names that are run in turn, and what progress says of them. */
interface Turns {
  readonly what: string
  readonly names: readonly string[]
  readonly rounds: number
}

/** Runs each of them once per round. Each round begins with another one. @returns the runs of each, by its name */
export async function inTurn<T>(
  { what, names, rounds }: Turns,
  run: (name: string) => Promise<T>,
): Promise<[name: string, runs: T[]][]> {
  const seen = names.map((name): [string, T[]] => [name, []])
  for (let round = 0; round < rounds; round++) {
    for (let place = 0; place < names.length; place++) {
      const [name, runs] = seen[(round + place) % names.length] as [string, T[]]
      progress(`${what}, ${name}, round ${round + 1} of ${rounds}`)
      runs.push(await run(name))
    }
  }
  return seen
}

/**
 * Lets the contestants take turns over many short rounds, so that interference slows all of them. In each round the
 * others are compared with the first. Each round begins with another contestant.
 */
export async function interleave(contestants: readonly Contestant[], options: RoundOptions): Promise<Rate[]> {
  const collectGarbage = options.collectsGarbage === false ? () => undefined : garbageCollector()
  for (const contestant of contestants) await contestant.perSecondOver(options.warmUpMs)
  const rates = contestants.map((): number[] => [])
  for (let round = 0; round < options.rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      const index = (round + turn) % contestants.length
      collectGarbage()
      rates[index]?.push((await contestants[index]?.perSecondOver(options.roundMs)) ?? Number.NaN)
    }
  }
  const first = rates[0] ?? []
  return contestants.map(({ name }, index) => {
    const perRound = rates[index] ?? []
    const ratios = perRound.map((rate, round) => rate / (first[round] ?? Number.NaN))
    return { name, perSecond: median(perRound), ...ratioOf(ratios) }
  })
}

/** The median of ratios, and their 10th and 90th percentile. */
export function ratioOf(ratios: readonly number[]): Pick<Rate, 'ratio' | 'spread'> {
  return { ratio: median(ratios), spread: [quantile(ratios, 0.1), quantile(ratios, 0.9)] }
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** A quantile, as the nearest of the values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN
}

/** Node's garbage collector, as with `--expose-gc`. */
export function garbageCollector(): () => void {
  if (globalThis.gc !== undefined) return globalThis.gc
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

/** This process's processor time in microseconds. */
export function cpuUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
