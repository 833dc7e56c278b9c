import { cellsIn, PERIOD_NUMBERS, slotsCell, windowCell } from '@scoregw/quota/internal'
import type { CellSchema, LayerSchema, StoreSchema } from '@scoregw/quota/store'

/** A layer of a {@link Table}. */
export type TableLayer = Pick<LayerSchema, 'name' | 'shared'>

/** Limits as policies with categories have them: the same cells in each layer and category. */
export interface Table {
  readonly units: readonly string[]
  readonly cells: readonly CellSchema[]
  readonly categories: readonly string[]
  readonly layers: readonly TableLayer[]
}

/** Returns the name of the store's layer for a layer and category. */
function layerName(layer: string, category: string): string {
  return `${layer}/${category}`
}

/** Returns a table's schema: one layer of the store for each layer and category, and a set per category. */
export function schemaOf({ units, cells, categories, layers: all }: Table): StoreSchema {
  const layers = all.flatMap(({ name, shared }) =>
    categories.map((category) => ({ name: layerName(name, category), by: name, shared, cells })),
  )
  const positions = [...layers.flatMap(() => cells).keys()]
  const sets = categories.map((_, category) =>
    positions.filter((at) => Math.floor(at / cells.length) % categories.length === category),
  )
  return { units, layers, sets: [positions, ...sets] }
}

/** Converts between a table's rows and a schema's positions. `layers` are indices of the table's. */
export class TableRows {
  readonly #table: Table

  constructor(table: Table) {
    this.#table = table
  }

  /** Returns the set of a category. */
  set(category: number): number {
    return category + 1
  }

  /** Returns the store's layers. */
  layers(category: number, layers: readonly number[]): number[] {
    return layers.map((layer) => layer * this.#table.categories.length + category)
  }

  /** Returns the positions of all limits of these rows. */
  positions(category: number, layers: readonly number[]): number[] {
    const { cells } = this.#table
    return this.layers(category, layers).flatMap((layer) => cells.map((_, cell) => layer * cells.length + cell))
  }

  /** Returns numbers for every position. @param given one per cell of each of these rows */
  spread(category: number, layers: readonly number[], given: readonly number[], other: number): number[] {
    const { cells, categories, layers: all } = this.#table
    const spread = Array.from({ length: all.length * categories.length * cells.length }, () => other)
    for (const [index, at] of this.positions(category, layers).entries()) spread[at] = given[index] ?? other
    return spread
  }

  /** Returns the states of a schema; none if the store returned none. @param pairs of these rows */
  states(category: number, layers: readonly number[], pairs: readonly number[]): number[] {
    if (pairs.length === 0) return []
    const of = (which: 0 | 1, other: number): number[] =>
      this.spread(
        category,
        layers,
        pairs.filter((_, index) => index % 2 === which),
        other,
      )
    const used = of(1, 0)
    return of(0, -1).flatMap((startedAt, at) => [startedAt, used[at] ?? 0])
  }

  /** Returns the pairs of these rows from a state; none if the store returned none. */
  pairs(category: number, layers: readonly number[], states: readonly number[]): number[] {
    if (states.length === 0) return []
    return this.positions(category, layers).flatMap((at) => [states[2 * at] ?? -1, states[2 * at + 1] ?? 0])
  }

  /** Returns the periods of a schema. @param given those of each of these rows in turn */
  periods(layers: readonly number[], given: readonly number[] | undefined): number[] | undefined {
    if (given === undefined) return undefined
    const { cells, categories, layers: all } = this.#table
    const ofRow = PERIOD_NUMBERS * cells.filter(({ kind }) => kind === 'calendar').length
    return all.flatMap((_, layer) => {
      const slot = Math.max(0, layers.indexOf(layer))
      return categories.flatMap(() => given.slice(slot * ofRow, (slot + 1) * ofRow))
    })
  }
}

const UNITS = ['tokens', 'requests']
const HOUR = windowCell({ label: '1h', lengthMs: 3_600_000 })
const DAY = windowCell({ label: '1d', lengthMs: 86_400_000 })
const REQUESTS = windowCell({ label: '1m', lengthMs: 60_000 }, 'requests')

/**
 * Layers with different limits, and sets that overlap. Positions: tokens per hour and day and slots of the user (0 to 2),
 * tokens per hour of the team (3), requests per minute and tokens per hour of the site (4 and 5).
 */
export const MIXED: StoreSchema = {
  units: UNITS,
  layers: [
    { name: 'user', shared: false, cells: cellsIn(UNITS, [HOUR, DAY, slotsCell('running')]) },
    { name: 'team', shared: false, cells: cellsIn(UNITS, [HOUR]) },
    { name: 'site', shared: true, cells: cellsIn(UNITS, [REQUESTS, HOUR]) },
  ],
  sets: [
    [0, 1, 2, 3, 4, 5],
    [0, 3, 5],
    [0, 1, 2],
    [1, 4],
  ],
}
