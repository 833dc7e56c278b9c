import { adaptiveLaw, initialFactor } from '../../src/adaptive.ts'
import { type Controller, type Plant, simulate, timeAboveHighRate } from './simulation.ts'

/** The law under test; `start`: its factor at first, in hundredths. */
export function law(start = 100): Controller {
  let state = { ...initialFactor(), factorHundredths: start }
  return (counts, now) => {
    state = adaptiveLaw(state, counts, now)
    return state.factorHundredths
  }
}

const clamp = (factor: number): number => Math.min(1.5, Math.max(0.75, factor))
const LOW = 0.005
const HIGH = 0.02

/** 1.5 at errors of 0.5 % and below, 0.75 at 2 % and above, straight between; moved every minute. */
function directMap(): Controller {
  return ({ errors, calls }) => {
    const rate = calls === 0 ? 0 : errors / calls
    return Math.round(100 * clamp(1.5 - (0.75 * (rate - LOW)) / (HIGH - LOW)))
  }
}

/** Every five minutes: up by 0.05 below 0.5 % of errors, down by a tenth above 2 %. */
function aimd(): Controller {
  let factor = 1
  return ({ errors, calls }, now) => {
    if (now % 300_000 !== 0 || calls === 0) return Math.round(100 * factor)
    if (errors > HIGH * calls) factor = clamp(factor * 0.9)
    else if (errors < LOW * calls) factor = clamp(factor + 0.05)
    return Math.round(100 * factor)
  }
}

/** Proportional and integral on the distance from 1 %, every five minutes, with an integral that stops at the bounds. */
function proportionalIntegral(): Controller {
  let integral = 0
  let factor = 1
  return ({ errors, calls }, now) => {
    if (now % 300_000 !== 0 || calls === 0) return Math.round(100 * factor)
    const distance = 0.01 - errors / calls
    integral = Math.min(0.5, Math.max(-0.25, integral + 2 * distance))
    factor = clamp(1 + 5 * distance + integral)
    return Math.round(100 * factor)
  }
}

/**
 * An oracle that knows the plant: the factor that never moves with the least time above 2 % of errors, and the highest one of
 * those. A controller that follows a changing service can be better.
 */
export function bestFixed(plant: Plant): Controller {
  const best = BEST.get(plant) ?? bestOf(plant)
  BEST.set(plant, best)
  return () => best
}

/** Found once per plant: it takes sixteen runs. */
const BEST = new Map<Plant, number>()

function bestOf(plant: Plant): number {
  const tried = Array.from({ length: 16 }, (_, index) => 75 + 5 * index).map((hundredths) => {
    const run = simulate(() => hundredths, { ...plant, start: hundredths }, 1, 48)
    return { hundredths, high: timeAboveHighRate(run) }
  })
  const least = Math.min(...tried.map(({ high }) => high))
  return Math.max(...tried.filter(({ high }) => high <= least + 0.001).map(({ hundredths }) => hundredths))
}

/** The law and what it is compared with, by name. */
export const CONTROLLERS: readonly (readonly [name: string, make: (plant: Plant) => Controller])[] = [
  ['the law', () => law()],
  ['direct map', directMap],
  ['AIMD', aimd],
  ['PI', proportionalIntegral],
]
