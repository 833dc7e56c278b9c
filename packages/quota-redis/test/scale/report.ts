// Forked with the measured costs; sends its parent the results of the simulation for each load.
import type { Costs } from './costs.ts'
import { type Load, type Outcome, simulate } from './simulation.ts'

export interface SimulatedLoad extends Load, Outcome {
  readonly name: string
}

const ROOM = 10 ** 11

type Shape = Pick<Load, 'perSecond' | 'processes' | 'primaries'>

/** One server with everything, up to what it can; then subjects spread over many, the site leased. */
const SHAPES: Readonly<Record<string, Shape>> = {
  'one primary, two processes': { perSecond: 50_000, processes: 2, primaries: 1 },
  'one primary, four processes': { perSecond: 100_000, processes: 4, primaries: 1 },
  'three primaries, leased': { perSecond: 200_000, processes: 6, primaries: 3 },
  'six primaries, leased': { perSecond: 500_000, processes: 14, primaries: 6 },
  'twelve primaries, leased': { perSecond: 1_000_000, processes: 28, primaries: 12 },
}

const SEED = 20_261_122

process.once('message', async ({ costs, seconds }: { readonly costs: Costs; readonly seconds: number }) => {
  const loads: SimulatedLoad[] = []
  for (const [name, shape] of Object.entries(SHAPES)) {
    const load: Load = { ...shape, seconds, limit: ROOM, seed: SEED }
    loads.push({ name, ...load, ...(await simulate(load, costs)) })
    process.send?.({ progress: name })
  }
  process.send?.({ loads })
  process.disconnect()
})
