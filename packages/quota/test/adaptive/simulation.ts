import type { AdaptiveCounts } from '../../src/store.ts'
import type { Plant } from './plants.ts'
import { binomial, poisson, randomFrom } from './random.ts'

/** What moves the factor: asked once a minute, answers whole hundredths. */
export type Controller = (counts: AdaptiveCounts, now: number) => number

export interface Setup {
  readonly plant: Plant
  readonly seed: number
  readonly hours: number
  /** Calls a minute at load 1. */
  readonly callsPerMinute: number
  /** How long a change of the factor takes to begin to show in the load. */
  readonly deadMinutes?: number
  /** Time constant with which the load then follows. */
  readonly lagMinutes?: number
  /** The factor before, in hundredths. */
  readonly start?: number
  /** Minutes in which 30 % of the calls fail whatever the load: from, up to. */
  readonly outage?: readonly [from: number, to: number]
}

export interface Run {
  /** The factor before, in hundredths. */
  readonly start: number
  /** The factor after each minute, in hundredths. */
  readonly factors: readonly number[]
  /** True error rate in each minute. */
  readonly rates: readonly number[]
}

const WINDOW = 30
const RECENT = 5
const OUTAGE_RATE = 0.3

/** A sum over the last so many minutes. */
function slidingSum(minutes: number): (value: number) => number {
  const ring = new Int32Array(minutes)
  let [at, sum] = [0, 0]
  return (value) => {
    sum += value - ring[at]!
    ring[at] = value
    at = (at + 1) % minutes
    return sum
  }
}

/** Half an hour of the past at the first factor, then so many hours under a controller. */
export function simulate(controller: Controller, setup: Setup): Run {
  const { plant, callsPerMinute, deadMinutes = 0, lagMinutes = 1, start = 100, outage = [0, 0] } = setup
  const random = randomFrom(setup.seed)
  const sums = [slidingSum(WINDOW), slidingSum(WINDOW), slidingSum(RECENT), slidingSum(RECENT)] as const
  const factors: number[] = []
  const rates: number[] = []
  let load = start / 100
  for (let minute = -WINDOW; minute < setup.hours * 60; minute++) {
    const factor = (factors[minute - 1 - deadMinutes] ?? start) / 100
    load += (factor - load) / lagMinutes
    const rate = minute >= outage[0] && minute < outage[1] ? OUTAGE_RATE : plant.errorRate(load)
    const calls = poisson(random, callsPerMinute * load)
    const errors = binomial(random, calls, rate)
    const counts = {
      calls: sums[0](calls),
      errors: sums[1](errors),
      recentCalls: sums[2](calls),
      recentErrors: sums[3](errors),
    }
    if (minute < 0) continue
    factors.push(controller(counts, (minute + 1) * 60_000))
    rates.push(rate)
  }
  return { start, factors, rates }
}

/** How often the factor turned: moves whose direction is not that of the move before. */
export function reversals({ start, factors }: Run): number {
  let [turns, direction, before] = [0, 0, start]
  for (const factor of factors) {
    const next = Math.sign(factor - before)
    before = factor
    if (next === 0) continue
    if (direction !== 0 && next !== direction) turns++
    direction = next
  }
  return turns
}

/** The largest change within a minute, in hundredths. */
export function largestStep({ start, factors }: Run): number {
  let [largest, before] = [0, start]
  for (const factor of factors) {
    largest = Math.max(largest, Math.abs(factor - before))
    before = factor
  }
  return largest
}

/** Share of the time in which the true error rate was above 2 %. */
export function timeAboveHighRate({ rates }: Run): number {
  return rates.filter((rate) => rate > 0.02).length / rates.length
}

/** Minutes from one on until the factor is at least so high; `Infinity`: never. */
export function minutesUntil({ factors }: Run, from: number, hundredths: number): number {
  const at = factors.findIndex((factor, minute) => minute >= from && factor >= hundredths)
  return at === -1 ? Number.POSITIVE_INFINITY : at + 1 - from
}
