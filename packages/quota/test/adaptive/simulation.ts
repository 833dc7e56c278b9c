import type { AdaptiveCounts } from '../../src/adaptive.ts'
import { binomial, gauss, poisson, randomFrom } from './random.ts'

/** Moves the factor, once per minute: returns whole hundredths. */
export type Controller = (counts: AdaptiveCounts, now: number) => number

/** A service to try a controller on. Its load follows the factor, and its errors follow the load. */
export interface Plant {
  /** Error rate, 0..1, at a load (1 is the load at factor 1) and a minute since the beginning. */
  readonly errorRate: (load: number, minute: number) => number
  /** The error rate of a service with a state of its own, such as a queue. Made for each run. @default `errorRate` */
  readonly makeErrorRate?: () => Plant['errorRate']
  /** How often callers repeat a call that fails. Repeats are load as well. @default 0 */
  readonly retries?: number
  /** Calls per minute at load 1. */
  readonly callsPerMinute: number
  /** How long a change of the factor takes to begin to show in the load. @default 0 */
  readonly deadMinutes?: number
  /** Time constant with which the load then follows. @default 0: it jumps */
  readonly lagMinutes?: number
  /** How long a change of the load takes to begin to show in errors. @default 0 */
  readonly errorDeadMinutes?: number
  /** Time constant with which errors then follow. @default 0: they jump */
  readonly errorLagMinutes?: number
  /** Multiplies the load in a minute. @default 1 */
  readonly burst?: (minute: number) => number
  /** Mean of errors that have nothing to do with the load and come and go within half an hour. @default 0 */
  readonly noise?: number
  /** Minutes in which a share of the calls fails at any load, drawn per seed. @default none */
  readonly outages?: (random: () => number) => readonly Outage[]
  /** The factor before, in hundredths. @default 100 */
  readonly start?: number
}

export interface Outage {
  readonly from: number
  readonly to: number
  readonly rate: number
}

export interface Run {
  /** The factor before, in hundredths. */
  readonly start: number
  /** The factor after each minute, in hundredths. */
  readonly factors: readonly number[]
  /** True error rate in each minute, without outages: no factor helps against them. */
  readonly rates: readonly number[]
}

const WINDOW = 30
const RECENT = 5

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

/** What follows a value after a dead time and with a lag. */
function follower(deadMinutes: number, lagMinutes: number, first: number): (value: number) => number {
  const share = lagMinutes === 0 ? 1 : 1 - Math.exp(-1 / lagMinutes)
  const coming = new Float64Array(deadMinutes + 1).fill(first)
  let [at, follows] = [0, first]
  return (value) => {
    coming[at] = value
    at = (at + 1) % coming.length
    follows += (coming[at]! - follows) * share
    return follows
  }
}

/** How often a call is sent on average, if each time fails with this probability. */
function sent(failing: number, retries: number): number {
  let [sum, share] = [1, 1]
  for (let retry = 0; retry < retries; retry++) sum += share *= failing
  return sum
}

/** Half an hour of the past at the first factor, then so many hours under a controller. */
export function simulate(controller: Controller, plant: Plant, seed: number, hours: number): Run {
  const { callsPerMinute, deadMinutes = 0, lagMinutes = 0, errorDeadMinutes = 0, errorLagMinutes = 0 } = plant
  const { burst = () => 1, noise = 0, start = 100, retries = 0 } = plant
  const errorRate = plant.makeErrorRate?.() ?? plant.errorRate
  const random = randomFrom(seed)
  const outages = plant.outages?.(random) ?? []
  const sums = [slidingSum(WINDOW), slidingSum(WINDOW), slidingSum(RECENT), slidingSum(RECENT)] as const
  const loadOf = follower(deadMinutes, lagMinutes, start / 100)
  const rateOf = follower(errorDeadMinutes, errorLagMinutes, errorRate(start / 100, 0))
  const factors: number[] = []
  const rates: number[] = []
  let [background, failing] = [0, 0]
  for (let minute = -WINDOW; minute < hours * 60; minute++) {
    const load = loadOf((factors.at(-1) ?? start) / 100) * burst(minute) * sent(failing, retries)
    // Its logarithm wanders by 0.7 and forgets within half an hour.
    if (noise > 0) background = 0.97 * background + 0.17 * gauss(random)
    const own = Math.min(1, rateOf(errorRate(load, minute)) + noise * Math.exp(background - 0.25))
    const outage = outages.find(({ from, to }) => minute >= from && minute < to)?.rate ?? 0
    const calls = poisson(random, callsPerMinute * load)
    const errors = binomial(random, calls, Math.max(own, outage))
    const counts = {
      calls: sums[0](calls),
      errors: sums[1](errors),
      recentCalls: sums[2](calls),
      recentErrors: sums[3](errors),
    }
    failing = Math.max(own, outage)
    if (minute < 0) continue
    factors.push(controller(counts, (minute + 1) * 60_000))
    rates.push(own)
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

/** The factor on average, 1 for 100 hundredths. */
export function meanFactor({ factors }: Run): number {
  return factors.reduce((sum, each) => sum + each, 0) / factors.length / 100
}

/** Minutes from one on until the factor is at least so high; `Infinity`: never. */
export function minutesUntil({ factors }: Run, from: number, hundredths: number): number {
  const at = factors.findIndex((factor, minute) => minute >= from && factor >= hundredths)
  return at === -1 ? Number.POSITIVE_INFINITY : at + 1 - from
}
