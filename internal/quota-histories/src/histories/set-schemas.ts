import { cellsIn, slotsCell, windowCell } from '@scoregw/quota/internal'
import type { CellSchema, StoreSchema } from '@scoregw/quota/store'
import fc from 'fast-check'

export const UNITS = ['tokens', 'requests'] as const
/** How long the calendar's periods are, in milliseconds. */
export const PERIOD_MS = 40

/** The limits from which layers choose. */
const CELLS: readonly CellSchema[] = cellsIn(UNITS, [
  windowCell({ label: 'short', lengthMs: 20 }, 'tokens'),
  windowCell({ label: 'long', lengthMs: 60 }, 'tokens'),
  windowCell({ label: 'requests', lengthMs: 30 }, 'requests'),
  windowCell({ label: 'month', every: 'month', timeZone: 'UTC' }, 'tokens'),
  slotsCell('running'),
])
/** Two layers of one owner, one of another, and a shared one. */
const LAYERS = [
  { name: 'user', by: 'user', shared: false },
  { name: 'device', by: 'user', shared: false },
  { name: 'team', by: 'team', shared: false },
  { name: 'site', by: 'site', shared: true },
] as const
/** The sets of a schema, besides that of all limits. */
const SETS = 3

/** Which limits the layers of a schema have, and which of them its sets have. */
export const plans = fc.record({
  layers: fc.tuple(...LAYERS.map(() => fc.subarray([...CELLS], { minLength: 1 }))),
  sets: fc.array(fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }), { minLength: SETS, maxLength: SETS }),
})
export type Plan = typeof plans extends fc.Arbitrary<infer T> ? T : never

/** Returns the schema of a plan. @param history becomes part of the layers' names, so that histories share no rows */
export function schemaOf({ layers: cells, sets }: Plan, history: string): StoreSchema {
  const layers = LAYERS.map(({ name, by, shared }, index) => {
    return { name: `${name}-${history}`, by, shared, cells: cells[index] ?? [] }
  })
  const all = [...layers.flatMap((layer) => layer.cells).keys()]
  return { units: UNITS, layers, sets: [all, ...sets.map((has) => all.filter((at) => has[at]))] }
}
