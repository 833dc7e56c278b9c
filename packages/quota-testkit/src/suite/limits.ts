import { type CellDefinition, cellsIn, slotsCell, windowCell } from '@scoregw/quota/internal'
import type { LayerSchema, StoreSchema } from '@scoregw/quota/store'

export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

export const HOUR: CellDefinition = windowCell({ label: '1h', lengthMs: HOUR_MS })
export const FIVE_HOURS: CellDefinition = windowCell({ label: '5h', lengthMs: 5 * HOUR_MS })
export const DAY: CellDefinition = windowCell({ label: '1d', lengthMs: DAY_MS })
export const MONTH: CellDefinition = windowCell({ label: 'month', every: 'month', timeZone: 'UTC' })
export const RUNNING: CellDefinition = slotsCell('running')

/** A layer of a store. */
export type LayerOf = Pick<LayerSchema, 'name' | 'by' | 'shared'>

export const USER: LayerOf = { name: 'user', shared: false }
/** A second layer of the same subjects. */
export const WRITES: LayerOf = { name: 'user/writes', by: 'user', shared: false }
export const TEAM: LayerOf = { name: 'team', shared: false }
export const SITE: LayerOf = { name: 'site', shared: true }

/** Limits by name: each is a cell in the rows of a layer. */
export interface Limits {
  /** @default tokens alone */
  readonly units?: readonly string[]
  readonly limits: Readonly<Record<string, readonly [layer: LayerOf, cell: CellDefinition]>>
  /** Which limits count a request, by the name of the set. Without a name: all of them. */
  readonly sets?: Readonly<Record<string, readonly string[]>>
}

/** The same cells in several layers, named as `user 1h`. */
export function inEach(layers: readonly LayerOf[], ...cells: readonly CellDefinition[]): Limits {
  const limits = layers.flatMap((layer) =>
    cells.map((cell) => [`${layer.name} ${cell.label}`, [layer, cell] as const] as const),
  )
  return { limits: Object.fromEntries(limits) }
}

/** Returns the schema of limits, and their names by position. */
export function placed({ units = ['tokens'], limits, sets = {} }: Limits): {
  readonly schema: StoreSchema
  readonly names: readonly string[]
} {
  const all = Object.entries(limits)
  const layers = [...new Set(all.map(([, [layer]]) => layer))].map((layer) => {
    const own = all.filter(([, [each]]) => each === layer)
    const cells = cellsIn(
      units,
      own.map(([, [, cell]]) => cell),
    )
    const names = cells.map(({ identity }) => own.find(([, [, cell]]) => cell.identity === identity)?.[0] ?? '')
    return { schema: { ...layer, cells }, names }
  })
  const names = layers.flatMap((layer) => layer.names)
  const positions = Object.values(sets).map((set) => set.map((name) => names.indexOf(name)).sort((a, b) => a - b))
  const schema = { units, layers: layers.map((layer) => layer.schema), sets: [[...names.keys()], ...positions] }
  return { schema, names }
}

/** One window of each subject. */
export const HOURLY: Limits = { limits: { own: [USER, HOUR] } }
/** A window of each subject and one of all together. */
export const SHARED: Limits = { limits: { own: [USER, HOUR], all: [SITE, HOUR] } }
/** Two rows of each subject and a shared one. */
export const ROWS: Limits = { limits: { own: [USER, HOUR], writes: [WRITES, HOUR], all: [SITE, HOUR] } }
/** Three windows in two layers. */
export const SIX: Limits = inEach([USER, SITE], HOUR, FIVE_HOURS, DAY)
/** A window and slots of each subject. */
export const SLOTS: Limits = { limits: { own: [USER, HOUR], running: [USER, RUNNING] } }

/** Layers with different limits, and sets that overlap. */
export const MIXED: Limits = {
  units: ['tokens', 'requests'],
  limits: {
    hour: [USER, HOUR],
    day: [USER, DAY],
    running: [USER, RUNNING],
    team: [TEAM, HOUR],
    requests: [SITE, windowCell({ label: '1m', lengthMs: MINUTE_MS }, 'requests')],
    site: [SITE, HOUR],
  },
  sets: { hours: ['hour', 'team', 'site'], user: ['hour', 'day', 'running'], daily: ['day', 'requests'] },
}
