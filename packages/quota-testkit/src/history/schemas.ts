import { cellsIn, slotsCell, windowCell } from '@scoregw/quota/internal'
import type { LayerSchema, StoreAbilities, StoreSchema } from '@scoregw/quota/store'
import fc from 'fast-check'

const UNITS = ['tokens', 'requests', 'money'] as const
/** How long the calendar's periods are, in milliseconds. */
const PERIOD_MS = 40
/** The sets of a schema, besides that of all limits. */
const SETS = 3
/** Positions take turns over so many choices. A prime, so that layers have different ones. */
export const TURN = 7

/** Two layers of one owner, one of another, and a shared one. */
const LAYERS = [
  { name: 'user', by: 'user', shared: false },
  { name: 'device', by: 'user', shared: false },
  { name: 'team', by: 'team', shared: false },
  { name: 'site', by: 'site', shared: true },
] as const

/** The limits from which layers choose. */
const CELLS = cellsIn(UNITS, [
  windowCell({ label: 'short', lengthMs: 20 }, 'tokens'),
  windowCell({ label: 'long', lengthMs: 60 }, 'tokens'),
  windowCell({ label: 'requests', lengthMs: 30 }, 'requests'),
  windowCell({ label: 'money', lengthMs: 80 }, 'money'),
  windowCell({ label: 'month', every: 'month', timeZone: 'UTC' }, 'tokens'),
  windowCell({ label: 'bucket', lengthMs: 25, burst: 10 }, 'money'),
  slotsCell('running'),
])

/** The choices of a schema. */
export interface Plan {
  /** The limits of each layer, by their labels. */
  readonly limits: readonly (readonly string[])[]
  /** The limits of each set besides the first: every seventh position from these. */
  readonly sets: readonly (readonly number[])[]
}

/** Plans for a store: each layer has some of the limits, and each set some of those, if the store can have that. */
export function plansFor({ calendar, bucket, concurrency, sets }: StoreAbilities): fc.Arbitrary<Plan> {
  const can = { rolling: true, calendar, bucket, concurrency: concurrency !== undefined }
  const all = CELLS.filter(({ kind }) => can[kind] === true).map(({ label }) => label)
  const withoutSlots = all.filter((label) => label !== 'running')
  const some = (labels: readonly string[]) => fc.subarray([...labels], { minLength: 1 })
  if (sets !== true) {
    const same = some(concurrency === 'all' ? all : withoutSlots)
    return same.map((labels) => ({ limits: LAYERS.map(() => labels), sets: [] }))
  }
  return fc.record({
    limits: fc.tuple(...LAYERS.map(({ shared }) => some(shared && concurrency === 'own' ? withoutSlots : all))),
    sets: fc.array(fc.subarray([...Array(TURN).keys()], { minLength: 3 }), { minLength: SETS, maxLength: SETS }),
  })
}

/** Returns the schema of a plan. @param history becomes part of the layers' names, so that histories share no rows */
export function schemaOf({ limits, sets }: Plan, history: string): StoreSchema {
  const layers = LAYERS.map(({ name, by, shared }, index): LayerSchema => {
    const cells = CELLS.filter(({ label }) => limits[index]?.includes(label))
    return { name: `${name}-${history}`, by, shared, cells }
  })
  const all = [...layers.flatMap((layer) => layer.cells).keys()]
  return { units: UNITS, layers, sets: [all, ...sets.map((has) => all.filter((at) => has.includes(at % TURN)))] }
}

/** The current period of the calendar, its end, and the end of the next one. */
export function periodsAt(now: number): readonly [start: number, end: number, nextEnd: number] {
  const start = Math.floor(now / PERIOD_MS) * PERIOD_MS
  return [start, start + PERIOD_MS, start + 2 * PERIOD_MS]
}
