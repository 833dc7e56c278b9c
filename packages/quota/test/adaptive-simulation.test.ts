import { describe, expect, it } from 'vitest'
import { law } from './adaptive/controllers.ts'
import { healthy, PLANTS } from './adaptive/plants.ts'
import { comparison, lawByPlant } from './adaptive/report.ts'
import { largestStep, minutesUntil, type Run, reversals, type Setup, simulate } from './adaptive/simulation.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
const SEEDS = Array.from({ length: deep ? 100 : 20 }, (_, index) => index + 1)

/** A run for each seed. Each of them keeps to the bounds of the factor and of a step. */
function runs(setup: Omit<Setup, 'seed'>, start = 100): Run[] {
  return SEEDS.map((seed) => {
    const run = simulate(law(start), { ...setup, seed, start })
    expect(Math.min(...run.factors)).toBeGreaterThanOrEqual(75)
    expect(Math.max(...run.factors)).toBeLessThanOrEqual(150)
    expect(largestStep(run)).toBeLessThanOrEqual(10)
    return run
  })
}

const most = (figures: readonly number[]): number => Math.max(...figures)
const lastOf = ({ factors }: Run): number => factors.at(-1)!

describe('two days of the law on a service that feels its load', () => {
  const delays = deep
    ? [5, 20, 60].flatMap((dead) => [5, 20, 60].map((lag) => [dead, lag] as const))
    : ([5, 20, 60] as const).map((each) => [each, each] as const)
  const cases = PLANTS.flatMap((plant) => delays.map(([dead, lag]) => ({ plant, name: plant.name, dead, lag })))

  it.each(cases)('$plant.kind, $name, dead time $dead min, lag $lag min', ({ plant, dead, lag }) => {
    const days = runs({ plant, hours: 48, callsPerMinute: 100, deadMinutes: dead, lagMinutes: lag })
    expect(most(days.map(reversals))).toBeLessThanOrEqual(plant.kind === 'soft' ? 2 : 25)
  })
})

describe('the law on a service that carries any load', () => {
  it.each([
    [0, 7],
    [0.001, 7],
    [0.0005, 10],
    [0.002, 26],
    [0.001, 100],
    [0.004, 100],
  ])('never turns at %d errors a call and %d calls a minute', (rate, callsPerMinute) => {
    const days = runs({ plant: healthy(rate), hours: 12, callsPerMinute })
    expect(most(days.map(reversals))).toBe(0)
  })

  it('rises to the highest factor where there is traffic to judge by', () => {
    const days = runs({ plant: healthy(0.001), hours: 12, callsPerMinute: 100 })
    expect(days.every((run) => lastOf(run) === 150)).toBe(true)
  })

  it.each([7, 10, 20])(
    'comes back to 1 and stays there at %d calls a minute: too few to go beyond',
    (callsPerMinute) => {
      const days = runs({ plant: healthy(0), hours: 12, callsPerMinute }, 75)
      expect(days.map(lastOf)).toEqual(SEEDS.map(() => 100))
      expect(most(days.map(reversals))).toBe(0)
    },
  )

  it.each([75, 130])('drifts to 1 from %d hundredths with 3 calls a minute, and with none', (start) => {
    for (const callsPerMinute of [0, 3]) {
      const days = runs({ plant: healthy(0.001), hours: 12, callsPerMinute }, start)
      expect(days.map(lastOf)).toEqual(SEEDS.map(() => 100))
    }
  })

  it('stays at 1 without any traffic', () => {
    expect(runs({ plant: healthy(0), hours: 12, callsPerMinute: 0 }).flatMap(({ factors }) => factors)).toEqual(
      SEEDS.flatMap(() => Array.from({ length: 720 }, () => 100)),
    )
  })
})

describe('an outage', () => {
  const outage = [30, 90] as const

  it.each([
    [100, 180],
    [10, 240],
  ])('at %d calls a minute lowers the factor to 0.75, and is over %d minutes after it ended', (calls, minutes) => {
    const days = runs({ plant: healthy(0.001), hours: 8, callsPerMinute: calls, outage })
    expect(days.map(({ factors }) => factors[89])).toEqual(SEEDS.map(() => 75))
    expect(most(days.map((run) => minutesUntil(run, 90, 100)))).toBeLessThanOrEqual(minutes)
    expect(most(days.map(reversals))).toBeLessThanOrEqual(2)
  })

  it('lowers it also with 5 calls a minute, and the drift brings it back', () => {
    const days = runs({ plant: healthy(0), hours: 12, callsPerMinute: 5, outage })
    expect(days.every(({ factors }) => Math.min(...factors) === 75)).toBe(true)
    expect(days.map(lastOf)).toEqual(SEEDS.map(() => 100))
  })

  it('followed by a steady 0.8 % of errors leaves the factor where it is', () => {
    const days = runs({ plant: healthy(0.008), hours: 12, callsPerMinute: 1_000, outage })
    expect(days.map(lastOf)).toEqual(SEEDS.map(() => 75))
  })
})

it.runIf(deep)('in figures', () => console.log(`${lawByPlant(SEEDS.length)}\n\n${comparison(SEEDS.length)}`), 120_000)
